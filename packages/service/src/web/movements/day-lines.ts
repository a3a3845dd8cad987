import type { BookedPart, OtherMovement, WalletDay } from '#ledger/history/movements.ts';
import type { Place } from '#ledger/history/place.ts';

/**
 * Movements that follow each other in the books, as one line: calls between two other movements, or what is left of a day with more
 * lines than are shown.
 */
export interface Run {
  /** Where its newest movement is. */
  readonly newest: Place;
  readonly calls: number;
  readonly others: number;
  readonly balanceBefore: bigint;
  readonly balanceAfter: bigint;
}

/** A line of a day: a movement that is no call, or a run. */
export type DayLine = OtherMovement | Run;

/**
 * The lines of a day in the order of the books, the newest first: the balance of each is that of the line below it and its own amount.
 * `others`: the newest movements of each part that are no calls. Beyond `most` lines, the rest of the day is the last one.
 */
export function linesOfDay(day: WalletDay, others: readonly OtherMovement[], most: number): readonly DayLine[] {
  const lines: DayLine[] = [];
  for (const line of day.parts.flatMap((part) => linesOfPart(part, others))) {
    const above = lines.at(-1);
    // Calls before and after a move to another cell follow each other too.
    if (above !== undefined && isRun(above) && isRun(line)) lines[lines.length - 1] = oneOf([above, line]);
    else lines.push(line);
  }
  const rest = lines.slice(most - 1);
  return rest.length < 2 ? lines : [...lines.slice(0, most - 1), oneOf(rest.map(runOf))];
}

/** One run of several that follow each other, the newest first. */
function oneOf(runs: readonly Run[]): Run {
  return runs.reduce((newer, older) => ({
    newest: newer.newest,
    calls: newer.calls + older.calls,
    others: newer.others + older.others,
    balanceBefore: older.balanceBefore,
    balanceAfter: newer.balanceAfter,
  }));
}

export function isRun(line: DayLine): line is Run {
  return 'newest' in line;
}

function linesOfPart(part: BookedPart, all: readonly OtherMovement[]): readonly DayLine[] {
  const { move, first, last, balanceAfter } = part;
  const others = all.filter((one) => one.move === move && one.seq >= first && one.seq <= last);
  const lines: DayLine[] = [];
  let above: Below = { seq: last, balance: balanceAfter, unseen: 0 };
  let [callsLeft, othersLeft] = [part.calls, part.others];
  for (const movement of others) {
    const below: Below = { seq: movement.seq, balance: movement.balanceAfter, unseen: movement.unseenAbove };
    const calls = Number(above.seq - below.seq) - (below.unseen - above.unseen);
    if (calls > 0) lines.push(runBetween(above, below.balance, { move, calls, others: 0 }));
    lines.push(movement);
    above = { ...below, seq: movement.seq - 1n, balance: before(movement) };
    callsLeft -= Math.max(0, calls);
    othersLeft -= 1;
  }
  if (callsLeft + othersLeft <= 0) return lines;
  return [...lines, runBetween(above, part.balanceBefore, { move, calls: callsLeft, others: othersLeft })];
}

/** How the books stand below a line. */
interface Below {
  readonly seq: bigint;
  readonly balance: bigint;
  readonly unseen: number;
}

function runBetween(
  { seq, balance }: Below,
  balanceBefore: bigint,
  { move, calls, others }: { readonly move: number } & Pick<Run, 'calls' | 'others'>,
): Run {
  return { newest: { move, seq }, calls, others, balanceBefore, balanceAfter: balance };
}

function runOf(line: DayLine): Run {
  if (isRun(line)) return line;
  const { move, seq, balanceAfter } = line;
  return { newest: { move, seq }, calls: 0, others: 1, balanceBefore: before(line), balanceAfter };
}

function before({ direction, amount, balanceAfter }: OtherMovement): bigint {
  return direction === 'in' ? balanceAfter - amount : direction === 'out' ? balanceAfter + amount : balanceAfter;
}
