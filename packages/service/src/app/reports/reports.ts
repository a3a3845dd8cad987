import type { Ground } from '#app/process/ground.ts';
import { openBudgets } from '#app/reports/key-budgets.ts';
import { appUsageEverywhere } from '#http/cells/apps/usage.ts';
import { budgetUseEverywhere } from '#http/cells/money/budgets.ts';
import { BOOKS } from '#http/cells/money/books.ts';
import { sessionsEverywhere } from '#http/cells/apps/sessions.ts';
import { createEveryCell } from '#http/cells/questions/every-cell.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { selectCellBooks } from '#ledger/moving/queries.ts';
import { appUsersEverywhere } from '#http/cells/apps/users.ts';
import { attentionElsewhere, type OtherCellAttention } from '#http/cells/operators/attention.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { createAttention } from '#operator/health/attention.ts';
import { findElsewhere, type FoundElsewhere } from '#http/cells/operators/find.ts';
import { createFinder } from '#operator/look-up/find.ts';
import { operatorListsEverywhere } from '#http/cells/operators/lists.ts';
import { tracesEverywhere } from '#http/cells/apps/traces.ts';
import { statsEverywhere } from '#http/cells/apps/stats.ts';
import { createAppUserRows, createAppUsers } from '#ledger/overview/app-users.ts';
import { selectAnyWallets } from '#ledger/overview/operator-queries.ts';
import { selectKeyBudgets } from '#ledger/budgets/queries.ts';
import { selectSpent } from '#ledger/overview/queries.ts';
import type { ReadWallets } from '#operator/money/wallets.ts';
import { createPaymentReader, type ReadPayments } from '#payments/overview/overview.ts';
import { createStatsRows } from '#calls/stats/rows.ts';
import { createStats, statsOf } from '#calls/stats/stats.ts';
import { createTraceReader, createTraceRows, traceReaderOf } from '#calls/traces/traces.ts';
import { selectReceipt, selectReceiptsByCorrelation } from '#calls/usage/queries.ts';
import { createAppUsage, RECEIPTS_MAX } from '#calls/usage/report.ts';
import { createSessions } from '#calls/usage/usage.ts';

/** What app owners and operators read of calls, in all cells. */
export interface Reports
  extends Pick<ControlPlane, 'appUsage' | 'stats' | 'traces' | 'appUsers' | 'usedSessions' | 'readBudgets'> {
  /** What needs an operator in other cells. */
  readonly attentionElsewhere: () => Promise<readonly OtherCellAttention[]>;
  /** Which other cells have something of an id. */
  readonly findElsewhere: (text: string) => Promise<readonly FoundElsewhere[]>;
  /** What operators list. */
  readonly lists: { readonly wallets: ReadWallets; readonly payments: ReadPayments };
  /** What gateways of other cells may ask for their reports. */
  readonly cellRoutes: readonly CellRoute[];
}

export function openReports({ pools, clock }: Ground, peers: CellPeers | undefined): Reports {
  const { planes, sandbox } = pools;
  const appUsage = createAppUsage(pools);
  const usedSessions = createSessions(planes);
  const userRows = createAppUserRows(planes);
  const lists: Reports['lists'] = {
    wallets: (filter, page) => selectAnyWallets(planes, filter, page),
    payments: createPaymentReader(planes),
  };
  if (peers === undefined) {
    const [stats, traces, appUsers] = [createStats(planes), createTraceReader(planes), createAppUsers(userRows)];
    const alone = { attentionElsewhere: readNone, findElsewhere: readNone, cellRoutes: [] };
    const readBudgets = openBudgets((lines) => selectKeyBudgets(planes, lines), sandbox);
    return { appUsage, usedSessions, stats, traces, appUsers, readBudgets, lists, ...alone };
  }
  const cells = createEveryCell(peers);
  // Upstreams are as a process sees them, so those of another cell are that cell's business.
  const readAttention = createAttention({ pool: planes, clock, readUpstreams: () => [] });
  return {
    appUsage: appUsageEverywhere(
      appUsage,
      async ({ appId, callId, correlationId }) => {
        const of = appId ?? undefined;
        if (correlationId !== null) return selectReceiptsByCorrelation(planes, of, correlationId, RECEIPTS_MAX);
        const row = callId === null ? undefined : await selectReceipt(planes, of, callId);
        return row === undefined ? [] : [row];
      },
      cells,
    ),
    usedSessions: sessionsEverywhere(usedSessions, cells),
    stats: statsOf(statsEverywhere(createStatsRows(planes), cells)),
    traces: traceReaderOf(tracesEverywhere(createTraceRows(planes), cells)),
    readBudgets: openBudgets(
      budgetUseEverywhere((lines) => selectKeyBudgets(planes, lines), cells),
      sandbox,
    ),
    attentionElsewhere: attentionElsewhere(readAttention, cells),
    // Every cell finds the calls of all.
    findElsewhere: findElsewhere(createFinder({ pool: planes, findCalls: readNone }), cells),
    lists: operatorListsEverywhere(lists, peers, cells),
    appUsers: createAppUsers(appUsersEverywhere(userRows, (appId, users) => selectSpent(planes, appId, users), cells)),
    cellRoutes: [...cells.routes, peers.answer(BOOKS, () => selectCellBooks(pools.reports))],
  };
}

function readNone(): Promise<readonly []> {
  return Promise.resolve([]);
}
