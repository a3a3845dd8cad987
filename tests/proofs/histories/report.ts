import { FAILPOINTS } from '../../../packages/service/src/kernel/faults/failpoint.ts';
import type { ExhaustiveResult } from './exhaustive.ts';
import type { HistoryResult } from './history.ts';
import type { Figures } from './model.ts';

/** The figures of a run, one per line. */
export function tableOf(
  seed: number,
  results: readonly HistoryResult[],
  exhaustive: ExhaustiveResult | undefined,
): string {
  const add = (of: (result: HistoryResult) => number): number => results.reduce((sum, one) => sum + of(one), 0);
  const figure = (name: keyof Figures): number =>
    add(({ figures }) => figures[name]) + (exhaustive?.figures[name] ?? 0);
  const kills = add(({ fleet }) => fleet.kills);
  const stops = add(({ fleet }) => fleet.stops);
  const [failpointKills, failpointStops] = [
    add(({ fleet }) => fleet.failpointKills),
    add(({ fleet }) => fleet.failpointStops),
  ];
  const violations = add((result) => result.violations.length) + (exhaustive?.violations.length ?? 0);
  const arranged = exhaustive?.killed ?? 0;
  const rows: readonly (readonly [string, number])[] = [
    ['histories', results.length],
    ['seed', seed],
    ['process kills', kills + failpointKills + arranged],
    ['  by SIGKILL at random', kills],
    ['  by a failpoint in a history', failpointKills],
    ['  by a failpoint in the exhaustive part', arranged],
    ['process stops', stops + failpointStops],
    ['gateways cut off for longer than a lease', add(({ fleet }) => fleet.cuts)],
    ['database kills', add(({ databaseKills }) => databaseKills)],
    ['calls sent', figure('calls')],
    ['  answered in full', figure('acknowledged')],
    ['  refused or failed', figure('refusals')],
    ['  of those, 500', figure('serverErrors')],
    ['  unknown to the client', figure('unknown')],
    ['holds placed', figure('holds')],
    ['orphaned holds released', figure('orphans')],
    ['charges', figure('charges')],
    ['micros charged', figure('micros')],
    ['holds of keys with a budget', figure('budgeted')],
    ['  charged to budgets', figure('budgetMicros')],
    ['  refused for a budget', figure('budgetRefusals')],
    ['overruns booked as ours', figure('overruns')],
    ['credits', figure('credits')],
    ['refunds and claw-backs', figure('takes')],
    ['payments sent again', figure('repeatedSends')],
    ['ledger entries', figure('entries')],
    ['free answers after a fenced stop', figure('freeAfterFence')],
    ['charged after their holds were released', figure('late')],
    ['  micros of them that we lost', figure('lateLoss')],
    ['violations', violations],
  ];
  return rows.map(([name, value]) => `${name.padEnd(42)}${String(value).padStart(14)}`).join('\n');
}

/** How often each failpoint fired, and which never did. */
export function firedOf(results: readonly HistoryResult[]): string {
  const fired = new Map<string, number>();
  for (const { fleet } of results) {
    for (const [name, times] of fleet.fired) fired.set(name, (fired.get(name) ?? 0) + times);
  }
  const reached = FAILPOINTS.filter((name) => fired.has(name)).map((name) => `${name} ${fired.get(name)}`);
  const never = FAILPOINTS.filter((name) => !fired.has(name));
  return `failpoints fired: ${reached.join(', ') || 'none'}\nnever fired here: ${never.join(', ') || 'none'}`;
}
