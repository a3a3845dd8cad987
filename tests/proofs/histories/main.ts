// `npm run proofs -- histories`: see README.md here.
import { parseArgs } from 'node:util';
import { type HistoryResult, runHistory } from './history.ts';
import { type ExhaustiveResult, runExhaustive } from './exhaustive.ts';
import { firedOf, tableOf } from './report.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    slots: { type: 'string', default: '5' },
    'without-failpoints': { type: 'boolean', default: false },
  },
});
const histories = wholeOf('histories');
const seed = wholeOf('seed');
const slots = wholeOf('slots');

const isExhaustive = !values['without-failpoints'];

console.log(`seed ${seed}, ${histories} histories, ${slots} at a time`);
const exhaustive = isExhaustive ? await goThroughFailpoints() : undefined;
const results: HistoryResult[] = [];
let next = 0;
await Promise.all(Array.from({ length: slots }, runSlot));
console.log(`\n${firedOf(results)}\n\n${tableOf(seed, results, exhaustive)}`);
const isProved = [...results, ...(exhaustive === undefined ? [] : [exhaustive])].every(
  (one) => one.violations.length === 0,
);
process.exit(isProved && results.length === histories && (exhaustive?.neverFired.length ?? 0) === 0 ? 0 : 1);

async function goThroughFailpoints(): Promise<ExhaustiveResult> {
  const result = await runExhaustive({ seed, atATime: slots });
  const { cases, killed, neverFired, violations, kept } = result;
  console.log(`failpoints: ${killed} of ${cases} cases killed their process, ${violations.length} violations`);
  if (neverFired.length > 0) console.log(`  never fired: ${neverFired.join(', ')}`);
  if (violations.length > 0) console.log([...toldOf(violations), `  kept: ${kept}`].join('\n'));
  return result;
}

async function runSlot(): Promise<void> {
  while (next < histories) {
    const index = next;
    next += 1;
    const startedAt = performance.now();
    try {
      const result = await runHistory(seed + index);
      results.push(result);
      console.log(lineOf(result, performance.now() - startedAt));
    } catch (fault) {
      console.log(`history ${seed + index} could not be run: ${fault instanceof Error ? fault.stack : String(fault)}`);
    }
  }
}

function lineOf({ seed: of, violations, figures, fleet, databaseKills, kept }: HistoryResult, ms: number): string {
  const kills = fleet.kills + fleet.failpointKills;
  const line =
    `history ${of}: ${figures.calls} calls, ${kills} kills, ${fleet.stops + fleet.failpointStops} stops, ` +
    `${databaseKills} database kills, ${figures.charges} charges, ${violations.length} violations, ${Math.round(ms / 1000)} s`;
  if (violations.length === 0) return line;
  const again = `npm run proofs -- histories --histories 1 --seed ${of} --without-failpoints`;
  return [line, ...toldOf(violations), `  kept: ${kept}; again: ${again}`].join('\n');
}

function toldOf(violations: HistoryResult['violations']): readonly string[] {
  return violations.slice(0, 20).map(({ rule, about }) => `  ${rule}: ${about}`);
}

function wholeOf(name: 'histories' | 'seed' | 'slots'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number.`);
  process.exit(2);
}
