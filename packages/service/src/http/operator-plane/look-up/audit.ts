import { AUDIT_ROUTES } from '@purser/contract/operator-audit.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import { sentAmount, sentMs } from '#http/requests/sent.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { dateOf } from '#kernel/time/clock.ts';

/** Routes for the audit trail, its chain, and sign-ins (CP-05, CP-09). */
export function addAuditRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { audit, auditSearch } = operator;
  const add = routes(AUDIT_ROUTES);

  add('GET /operator/audit', async ({ query: { before, limit, from, to, amountFrom, amountTo, ...texts } }) => {
    const filter = {
      ...texts,
      from: sentDate(from),
      to: sentDate(to),
      amountFrom: sentAmount(amountFrom),
      amountTo: sentAmount(amountTo),
    };
    return auditSearch.find(filter, { before, most: limit });
  });

  add('GET /operator/audit/head', () => auditSearch.head());

  add('GET /operator/sign-ins', ({ query: { who, before, limit } }) => audit.signIns({ who, before, most: limit }));
}

function sentDate(moment: string | undefined): Date | undefined {
  const ms = sentMs(moment);
  return ms === undefined ? undefined : dateOf(ms);
}
