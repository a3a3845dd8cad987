import type { Pool } from '#db/pool/pool.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { KeyBudget } from '#kernel/calls/hold.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { BudgetHome, Lent } from '#ledger/budgets/budget-home.ts';
import { type LendRequest, selectBudgetUse, takeAllowance } from '#ledger/budgets/queries.ts';
import { createRounds } from '#ledger/budgets/rounds.ts';

/** A call that the budget of its key has refused in this cell. */
interface RoomAsked {
  readonly budget: KeyBudget;
  readonly least: Micros;
  readonly most: Micros;
}

/** What was found. The call is to be placed again unless `isTold`. */
interface RoomFound {
  /** Whether nothing has changed since the cells were asked last. */
  readonly isTold: boolean;
  /** Whether nobody had anything to spare, so that it is no use to ask once more. */
  readonly isNothing: boolean;
  /** Why there is too little, if the call is refused again. If it is undefined, the reason is that of its own database. */
  readonly reason: Exclude<Lent['refused'], null> | undefined;
}

export type FindRoom = (asked: RoomAsked) => Promise<RoomFound>;

interface FindRoomOptions {
  readonly db: Pool;
  readonly home: BudgetHome;
  /** Asks another cell, which is the home. Undefined if this one is. Rejects if it does not answer in a second. */
  readonly askHome: () => ((asked: LendRequest) => Promise<Lent>) | undefined;
  readonly clock: SteadyClock;
  readonly log: Log;
}

/** How long it is remembered that there was too little: a key that goes on calling asks the other cells no more often than this. */
const TOLD_MS = 100;
/** How long a home that did not answer is left alone. */
const AWAY_MS = 1_000;

/** Looks for what other cells have of a budget that has refused a call in this one (CP-08). */
export function createFindRoom(options: FindRoomOptions): FindRoom {
  const { home, askHome, clock } = options;
  const borrow = createBorrow(options);
  /** The last answer about each budget, with `least`, because a call that needs less may find room. */
  const told = new Map<string, Told>();

  async function gatherFor({ budget: { key } }: RoomAsked): Promise<RoomFound> {
    const { isWhole, isNothing } = await home.gather(key);
    return { isTold: false, isNothing, reason: isWhole ? undefined : 'budget_elsewhere' };
  }

  function tell(name: string, { reason, least }: Omit<Told, 'untilMs'>): void {
    const known = { untilMs: clock.nowMs() + TOLD_MS, reason, least };
    told.set(name, known);
    setTimeout(() => {
      if (told.get(name) === known) told.delete(name);
    }, TOLD_MS).unref();
  }

  const rounds = createRounds(async (name, all: readonly [RoomAsked, ...RoomAsked[]]): Promise<RoomFound> => {
    const [first] = all;
    const ask = askHome();
    const together = sumOf(all);
    const found = ask === undefined ? await gatherFor(first) : await borrow(first.budget, together, ask);
    if (found.isNothing) tell(name, { reason: found.reason, least: together.least });
    return found;
  });

  return (asked) => {
    const { key, micros } = asked.budget;
    if (asked.least > micros) return Promise.resolve(TOO_LARGE);
    const name = `${key} ${micros}`;
    const known = told.get(name);
    if (known !== undefined && clock.nowMs() < known.untilMs && asked.least >= known.least) {
      return Promise.resolve({ ...TOLD, reason: known.reason });
    }
    return rounds(name, asked);
  };
}

interface Told {
  readonly untilMs: number;
  readonly reason: RoomFound['reason'];
  readonly least: bigint;
}

const TOLD = { isTold: true, isNothing: true } as const;
/** The call costs more than the whole budget. */
const TOO_LARGE: RoomFound = { ...TOLD, reason: 'budget_reached' };

interface Together {
  readonly least: bigint;
  readonly wanted: bigint;
}

/** Borrows from the home, and takes note of what it has lent. */
function createBorrow({ db, clock, log }: FindRoomOptions) {
  let awayUntilMs = 0;

  async function lentBy(ask: () => Promise<Lent>): Promise<Lent | undefined> {
    if (clock.nowMs() < awayUntilMs) return undefined;
    try {
      const lent = await ask();
      if (awayUntilMs > 0) log.info('the cell that lends of the budgets of API keys answers again');
      awayUntilMs = 0;
      return lent;
    } catch (fault) {
      if (awayUntilMs === 0) {
        log.warn(
          { fault: describeFault(fault) },
          'the cell that lends of the budgets of API keys does not answer: this cell spends what it was lent',
        );
      }
      awayUntilMs = clock.nowMs() + AWAY_MS;
      return undefined;
    }
  }

  return async (
    { key, micros: budget }: KeyBudget,
    together: Together,
    ask: (asked: LendRequest) => Promise<Lent>,
  ): Promise<RoomFound> => {
    const { month, spent, held, allowance, number } = await selectBudgetUse(db, key);
    const used = spent + held;
    const { wanted } = together;
    // What the cell has left is a part of what the smallest call needs.
    const least = together.least - (allowance > used ? allowance - used : 0n);
    const asked = { key, month, budget, least: least > 0n ? least : 1n, wanted, used, spent, allowance, number };
    const lent = await lentBy(() => ask(asked));
    // Without an answer, calls go on with what the cell has.
    const { isAll, refused, ...of } = lent ?? NOT_NOW;
    await takeAllowance(db, { key, month, ...of }, isAll);
    return { isTold: false, isNothing: refused !== null, reason: refused ?? undefined };
  };
}

/** The value that stands for no answer. It changes nothing, as no message has the number 0. */
export const NOT_NOW: Lent = { lent: 0n, number: 0n, limit: 0n, isAll: true, refused: 'budget_elsewhere' };

/** What calls with one budget want together: never more than all of it. */
function sumOf(all: readonly RoomAsked[]): Together {
  let [least, wanted, budget] = [0n, 0n, 0n];
  for (const one of all) {
    budget = one.budget.micros;
    if (least === 0n || one.least < least) least = one.least;
    wanted += one.most;
  }
  return { least, wanted: wanted < budget ? wanted : budget };
}
