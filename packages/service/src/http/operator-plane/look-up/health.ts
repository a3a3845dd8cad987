import { healthSchema } from '@purser/contract/operator-health.ts';
import { ledgerCheckSchema } from '@purser/contract/operator.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';

/** The route by which operators see how the service runs. */
export function addHealthRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.show('/operator/health', { answer: healthSchema }, async () => {
    const health = await operator.readHealth();
    return { ...health, database: { ...health.database, schema: health.database.schema_version } };
  });
}

/** The route by which operators check the ledger (CP-05, WA-09). */
export function addLedgerCheckRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes.show('/operator/ledger/check', { answer: ledgerCheckSchema }, async () => {
    const check = await operator.checkLedger();
    return { ...check, ok: check.found === 0n };
  });
}
