import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import type { OpenPurse, Purse } from '../support/peer.ts';
import { purserPurses } from '../support/purser-purse.ts';
import { LIVE } from '../support/target.ts';
import { EXPECTED_TEXT } from '../upstream/answers.ts';

const AT_ONCE = 200;
const COVERED = 50;

/** All in the price of a call. */
interface Sample {
  readonly answered: number;
  readonly charged: number;
  readonly overspent: number;
  readonly wrong: number;
}

/**
 * Makes more calls at once than a user's money covers, and tells how many are answered and what the books say
 * afterwards.
 */
export const money: Measure = {
  name: 'money',
  title: `Money for ${COVERED} calls, ${AT_ONCE} calls at once`,
  run: async (bench) => {
    const ground = await bench.ground();
    const rows = [await measureOne(bench, LIVE, purserPurses(ground))];
    for (const { name, openPurse } of await ground.peers()) {
      if (openPurse === undefined) bench.note(`${name} charges nothing, so it has no row.`);
      else rows.push(await measureOne(bench, name, openPurse));
    }
    return rows.map((row) => (row.target === LIVE ? withFault(row) : row));
  },
};

async function measureOne(bench: Bench, name: string, openPurse: OpenPurse): Promise<Row> {
  const samples: Sample[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    const sample = await rush(await openPurse(COVERED));
    samples.push(sample);
    bench.say(
      `round ${round}, ${name}: ${sample.answered} of ${AT_ONCE} answered, money for ${sample.wrong} calls wrong`,
    );
  }
  const column = (valueOf: (sample: Sample) => number) => figure('calls', samples.map(valueOf));
  return {
    target: name,
    figures: {
      'sent at once': column(() => AT_ONCE),
      'money for': column(() => COVERED),
      answered: column(({ answered }) => answered),
      charged: column(({ charged }) => charged),
      overspent: column(({ overspent }) => overspent),
      'money wrong': column(({ wrong }) => wrong),
    },
  };
}

/** Makes the calls at once. Money is wrong if answers and charges differ, or if more is spent than there was. */
async function rush({ url, headers, body, money: given, price, left }: Purse): Promise<Sample> {
  const call = async (): Promise<boolean> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return (await response.text()).includes(EXPECTED_TEXT) && response.ok;
  };
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, call));
  const answered = answers.filter(Boolean).length;
  const rest = await left(answered);
  const charged = (given - rest) / price;
  const overspent = Math.max(0, -rest) / price;
  return { answered, charged, overspent, wrong: Math.abs(answered - charged) + overspent };
}

function withFault(row: Row): Row {
  const { answered, 'money wrong': wrong } = row.figures;
  const isRight = answered?.samples.every((one) => one === COVERED) && wrong?.samples.every((one) => one === 0);
  return isRight ? row : { ...row, isVoid: `it must answer ${COVERED} calls, and charge for as many` };
}
