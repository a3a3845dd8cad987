import { setTimeout as sleep } from 'node:timers/promises';
import { checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import { CALL_PRICE_MICROS } from './catalogue.ts';
import type { BenchDatabase } from './database.ts';

/** Holds the charges that are booked against the calls that were answered. */
export interface Books {
  /**
   * Waits until nothing is held any more. `answered` is the number of calls whose answers came since the watch began.
   * `cutOff` is the largest number of calls that may have been under way when a generator stopped; those may have been
   * charged or not. Returns undefined if each answered call was charged its price and the ledger adds up; otherwise it
   * says what is wrong.
   */
  readonly judge: (
    report: { readonly note: (text: string) => void },
    calls: { readonly answered: number; readonly cutOff: number },
  ) => Promise<string | undefined>;
}

/** The books of one service, which several targets may share. */
export interface BookKeeper {
  /** The name by which notes call it. */
  readonly name: string;
  readonly watch: () => Promise<Books>;
}

/** Where the books are. */
interface Place {
  readonly database: BenchDatabase;
}

const HOLDS_MS_MAX = 20_000;
const POLL_MS = 100;

interface Charges {
  readonly full: bigint;
  readonly other: bigint;
  /** The calls among `other` that were charged nothing. */
  readonly free: bigint;
}

export async function watchBooks(place: Place): Promise<Books> {
  const before = await readCharges(place);
  return {
    judge: async (report, { answered, cutOff }) => {
      const open = await untilSettled(place);
      const after = await readCharges(place);
      const full = Number(after.full - before.full);
      const other = Number(after.other - before.other);
      const free = Number(after.free - before.free);
      const { found, wallets, entries } = await checkLedger(place.database.owner);
      report.note(
        `${answered} charged calls were answered and ${full} were charged their price of ${CALL_PRICE_MICROS} micros, ${free} ` +
          `nothing and ${other - free} something else; up to ${cutOff} were cut off. ${open} holds stayed. \`ledger check\`: ` +
          `${found} differences in ${wallets} wallets and ${entries} entries.`,
      );
      if (found > 0n) return `the ledger has ${found} differences`;
      if (open > 0) return `${open} holds stayed`;
      if (full < answered || full + other > answered + cutOff) return `${answered} answers, but ${full} charges`;
      return undefined;
    },
  };
}

async function readCharges({ database }: Place): Promise<Charges> {
  const { rows } = await database.owner.query<Charges>(
    `select count(*) filter (where charged_micros = $1) as "full", count(*) filter (where charged_micros <> $1) as other,
       count(*) filter (where charged_micros = 0) as free
     from usage.calls`,
    [CALL_PRICE_MICROS],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The books gave no answer.');
  return row;
}

/** Waits until nothing is held any more, and resolves to the number of holds that stay all the same. */
export async function untilSettled({ database }: Place): Promise<number> {
  const endAt = performance.now() + HOLDS_MS_MAX;
  for (;;) {
    const { rows } = await database.owner.query<{ readonly open: bigint }>('select count(*) as open from ledger.holds');
    const open = Number(rows[0]?.open);
    if (open === 0 || performance.now() > endAt) return open;
    await sleep(POLL_MS);
  }
}
