import type { CellReach } from '#app/cells.ts';
import type { Pool } from '#db/pool.ts';
import { appUsageEverywhere } from '#http/cells/app-usage.ts';
import { createEveryCell } from '#http/cells/every-cell.ts';
import type { CellRoute } from '#http/cells/question.ts';
import { statsEverywhere } from '#http/cells/stats.ts';
import { createStatsRows } from '#stats/rows.ts';
import { createStats, type Stats, statsOf } from '#stats/stats.ts';
import { selectReceipt, selectReceiptsByCorrelation } from '#usage/queries.ts';
import { type AppUsage, createAppUsage, RECEIPTS_MAX } from '#usage/report.ts';

interface ReportsOptions {
  readonly pools: { readonly planes: Pool; readonly reports: Pool };
  /** Undefined: there are no other cells. */
  readonly reach: CellReach | undefined;
}

/** What app owners and operators read of calls, in all cells. */
export interface Reports {
  readonly appUsage: AppUsage;
  readonly stats: Stats;
}

/** Opens the reports, and what gateways of other cells may ask for theirs. */
export function openReports({ pools, reach }: ReportsOptions): Reports & { readonly cellRoutes: readonly CellRoute[] } {
  const { planes } = pools;
  const appUsage = createAppUsage(pools);
  if (reach === undefined) return { appUsage, stats: createStats(planes), cellRoutes: [] };
  const cells = createEveryCell(reach);
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
    stats: statsOf(statsEverywhere(createStatsRows(planes), cells)),
    cellRoutes: cells.routes,
  };
}
