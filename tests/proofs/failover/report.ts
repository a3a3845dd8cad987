import type { Judgement } from './books.ts';
import type { Call } from './load.ts';
import type { CopyJudgement } from './copy-rounds.ts';
import { type Admission, POOR } from './poor.ts';

/** One time that a fault was played. */
export interface Round {
  readonly fault: string;
  readonly calls: readonly Call[];
  readonly judgement: Judgement;
  readonly admission: Admission;
  /** When the fault began, in milliseconds of the clock. */
  readonly beganAt: number;
  /** Whether `ledger check` found the books right. */
  readonly isLedgerRight: boolean;
  /** Whether the books have every charge that the logs of the gateways say (WA-14). */
  readonly hasAllTold: boolean;
  /** Whether all gateways became ready again. */
  readonly isReady: boolean;
  /** What became of the cell that copies the directory, if there is one. */
  readonly copy?: CopyJudgement;
}

/** The copy goes on, and where it is wrong, that is told and mended. */
function isCopyRight(copy: CopyJudgement | undefined): boolean {
  return copy === undefined || (copy.seconds !== undefined && copy.isTold && copy.isMended !== false);
}

export function isRight({ judgement, admission, isLedgerRight, hasAllTold, isReady, copy }: Round): boolean {
  const { lostMicros: _micros, ...lists } = judgement;
  const isInOrder = isReady && isLedgerRight && hasAllTold && isCopyRight(copy);
  return isInOrder && admission.overspent === 0 && Object.values(lists).every((tags) => tags.length === 0);
}

/** Two gateways that no fault cuts off, by their place, and how each finds the leader. */
const WAYS = { haproxy: 0, hosts: 1 } as const;

/**
 * The longest time between two answers of a gateway, to calls that were made after the fault began. Earlier ones may end without the
 * database.
 */
function secondsWithoutService({ calls, beganAt }: Round, place: number): number {
  const answers = calls.filter(
    ({ end, gateway, startedAt }) => end === 'answered' && startedAt >= beganAt && gateway === place,
  );
  const times = [beganAt, ...answers.map(({ endedAt }) => endedAt)].toSorted((a, b) => a - b);
  return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at))) / 1_000;
}

export function sayRound(round: Round, number: number): void {
  const { fault, judgement } = round;
  const one = summaryOf(fault, [round]);
  console.log(
    `${fault} ${number}: ${one.calls} calls, ${one.answered} answered, other ends: ${one['other ends']}; ` +
      `without service for ${one['s without service, HAProxy']} s by HAProxy, ${one['s without service, several hosts']} s by several hosts; ` +
      `told and not booked ${one.lost} (${judgement.lostMicros} micros), ` +
      `told otherwise ${one.different}, booked twice ${one.twice}, refused and charged ${one['charged refusals']}; ` +
      `spent out ${one['spent out']}, overspent ${one.overspent}; ` +
      `ledger ${round.isLedgerRight ? 'right' : 'WRONG'}, logs ${round.hasAllTold ? 'right' : 'WRONG'}`,
  );
  if (round.copy !== undefined) sayCopy(round.copy);
  for (const [kind, tags] of Object.entries(judgement))
    if (Array.isArray(tags) && tags.length > 0) console.log(`  ${kind}: ${tags.slice(0, 20).join(' ')}`);
}

function sayCopy({ stood, seconds, differing, isTold, isMended }: CopyJudgement): void {
  const arrived = seconds === undefined ? 'NEVER ARRIVED' : `arrived after ${seconds.toFixed(2)} s`;
  const rows = differing.length === 0 ? 'the same rows' : `OTHER ROWS in ${differing.join(', ')}`;
  console.log(
    `  copy: nothing arrived for ${stood.copy.toFixed(1)} s, nothing was confirmed in the directory for ${stood.directory.toFixed(1)} s; ` +
      `a new app and a revoked key ${arrived}; ${rows}, ${isTold ? 'and cells compare said so' : 'AND CELLS COMPARE DID NOT SAY SO'}` +
      (isMended === undefined ? '' : isMended ? '; cells subscribe --again made it right' : '; NOT MENDED'),
  );
}

export function sayAll(rounds: readonly Round[]): void {
  const faults = [...new Set(rounds.map(({ fault }) => fault))];
  console.table(
    faults.map((fault) =>
      summaryOf(
        fault,
        rounds.filter((round) => round.fault === fault),
      ),
    ),
  );
}

function summaryOf(fault: string, rounds: readonly Round[]) {
  const calls = rounds.flatMap((round) => round.calls);
  const count = (of: (judgement: Judgement) => readonly string[]): number =>
    rounds.reduce((sum, { judgement }) => sum + of(judgement).length, 0);
  const seconds = (place: number): string => {
    const all = rounds.map((round) => secondsWithoutService(round, place));
    const [least, most] = [Math.min(...all).toFixed(1), Math.max(...all).toFixed(1)];
    return least === most ? least : `${least} to ${most}`;
  };
  return {
    fault,
    rounds: rounds.length,
    calls: calls.length,
    answered: calls.filter(({ end }) => end === 'answered').length,
    lost: count(({ lost }) => lost),
    different: count(({ different }) => different),
    twice: count(({ twice }) => twice),
    'charged refusals': count(({ chargedRefusals }) => chargedRefusals),
    'spent out': `${rounds.reduce((sum, { admission }) => sum + admission.spentOut, 0)} of ${rounds.length * POOR}`,
    overspent: rounds.reduce((sum, { admission }) => sum + admission.overspent, 0),
    'ledger wrong': rounds.filter(({ isLedgerRight }) => !isLedgerRight).length,
    'logs wrong': rounds.filter(({ hasAllTold }) => !hasAllTold).length,
    'other ends': otherEnds(calls),
    's without service, HAProxy': seconds(WAYS.haproxy),
    's without service, several hosts': seconds(WAYS.hosts),
  };
}

/** Calls without an answer, by their status. */
function otherEnds(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { end, status } of calls.filter((call) => call.end !== 'answered')) {
    const name = end === 'broken' ? 'cut off' : status === 200 ? 'error in a stream' : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Array.from(counts, ([name, times]) => `${name} × ${times}`).join(', ') || 'none';
}
