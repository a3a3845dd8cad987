import { HEALTH_ROUTES } from '@purser/contract/operator-health.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';

/** The route by which operators see how the service runs. */
export function addHealthRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes(HEALTH_ROUTES)('GET /operator/health', async () => {
    const health = await operator.readHealth();
    return { ...health, database: { ...health.database, schema: health.database.schema_version } };
  });
}

/** The route by which operators check the ledger (CP-05, WA-09). */
export function addLedgerCheckRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  routes(HEALTH_ROUTES)('GET /operator/ledger/check', async () => {
    const check = await operator.checkLedger();
    return { ...check, ok: check.found === 0n };
  });
}
