import type { CellPeers } from '#app/cells/open-cells.ts';
import { openBudgets } from '#app/reports/key-budgets.ts';
import { readDirectory } from '#cells/directory/compare.ts';
import type { Pool } from '#db/pool/pool.ts';
import { appUsageEverywhere } from '#http/cells/apps/usage.ts';
import { budgetUseEverywhere } from '#http/cells/money/budgets.ts';
import { BOOKS } from '#http/cells/money/books.ts';
import { DIRECTORY_STATE } from '#http/cells/operators/directory.ts';
import { sessionsEverywhere } from '#http/cells/apps/sessions.ts';
import { createEveryCell } from '#http/cells/questions/every-cell.ts';
import { answerCells, type CellRoute } from '#http/cells/questions/question.ts';
import { selectCellBooks } from '#ledger/moving/queries.ts';
import { appUsersEverywhere } from '#http/cells/apps/users.ts';
import { attentionElsewhere, type OtherCellAttention } from '#http/cells/operators/attention.ts';
import type { ReadBudgets } from '#http/planes/key-budgets.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { ReadSessions } from '#kernel/calls/session-page.ts';
import { createAttention } from '#operator/health/attention.ts';
import { findElsewhere, type FoundElsewhere } from '#http/cells/operators/find.ts';
import { createFinder } from '#operator/look-up/find.ts';
import { operatorListsEverywhere } from '#http/cells/operators/lists.ts';
import { tracesEverywhere } from '#http/cells/apps/traces.ts';
import { statsEverywhere } from '#http/cells/apps/stats.ts';
import { type AppUsers, createAppUserRows, createAppUsers } from '#ledger/overview/app-users.ts';
import { selectAnyWallets } from '#ledger/overview/operator-queries.ts';
import { selectKeyBudgets } from '#ledger/budgets/queries.ts';
import { selectSpent } from '#ledger/overview/queries.ts';
import type { ReadWallets } from '#operator/money/wallet-list.ts';
import { createPaymentReader, type ReadPayments } from '#payments/overview/overview.ts';
import { createStatsRows } from '#calls/stats/rows.ts';
import { createStats, type Stats, statsOf } from '#calls/stats/stats.ts';
import { createTraceReader, createTraceRows, type TraceReader, traceReaderOf } from '#calls/traces/traces.ts';
import { selectReceipt, selectReceiptsByCorrelation } from '#calls/usage/queries.ts';
import { type AppUsage, createAppUsage, RECEIPTS_MAX } from '#calls/usage/report.ts';
import { createSessions } from '#calls/usage/usage.ts';

interface ReportsOptions {
  readonly clock: Clock;
  readonly pools: { readonly planes: Pool; readonly reports: Pool; readonly sandbox: Pool };
  /** The way to other cells. It is undefined if there are none. */
  readonly peers: CellPeers | undefined;
}

/** What app owners and operators read of calls, in all cells. */
export interface Reports {
  readonly appUsage: AppUsage;
  readonly stats: Stats;
  readonly traces: TraceReader;
  readonly appUsers: AppUsers;
  /** What sessions of coding agents have cost users (CP-19). */
  readonly usedSessions: ReadSessions;
  /** What counts for the budgets of API keys. */
  readonly readBudgets: ReadBudgets;
  /** What needs an operator in other cells. */
  readonly attentionElsewhere: () => Promise<readonly OtherCellAttention[]>;
  /** Which other cells have something of an id. */
  readonly findElsewhere: (text: string) => Promise<readonly FoundElsewhere[]>;
  /** What operators list. */
  readonly lists: { readonly wallets: ReadWallets; readonly payments: ReadPayments };
}

/** Opens the reports, and what gateways of other cells may ask for theirs. */
export function openReports({
  pools,
  clock,
  peers,
}: ReportsOptions): Reports & { readonly cellRoutes: readonly CellRoute[] } {
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
    cellRoutes: [
      ...cells.routes,
      answerCells(peers.requests, BOOKS, () => selectCellBooks(pools.reports)),
      answerCells(peers.requests, DIRECTORY_STATE, () => readDirectory(pools.reports)),
    ],
  };
}

function readNone(): Promise<readonly []> {
  return Promise.resolve([]);
}
