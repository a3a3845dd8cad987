import { auditHeadSchema, operatorAuditListSchema, operatorAuditPageSchema } from '@purser/contract/operator-audit.ts';
import { signInListSchema, signInPageSchema } from '@purser/contract/operator.ts';
import { foundToWire, headToWire, signInsToWire } from '#http/serializers/audit-to-wire.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import type { Plane } from '#http/planes/planes.ts';
import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import { micros } from '#kernel/values/micros.ts';

/** Routes for the audit trail, its chain, and sign-ins (CP-05, CP-09). */
export function addAuditRoutes(plane: Plane, operator: OperatorPlane): void {
  const { audit, auditSearch } = operator;

  plane.get(
    '/operator/audit',
    { schema: { querystring: operatorAuditPageSchema, response: { 200: operatorAuditListSchema } } },
    async ({ query }) => {
      const { before, limit, from, to, amountFrom, amountTo, ...texts } = query;
      const filter = {
        ...texts,
        from: from === undefined ? undefined : dateOf(epochMsOf(from)),
        to: to === undefined ? undefined : dateOf(epochMsOf(to)),
        amountFrom: amountFrom === undefined ? undefined : micros(BigInt(amountFrom)),
        amountTo: amountTo === undefined ? undefined : micros(BigInt(amountTo)),
      };
      return foundToWire(await auditSearch.find(filter, { before, most: limit }));
    },
  );

  plane.get('/operator/audit/head', { schema: { response: { 200: auditHeadSchema } } }, async () =>
    headToWire(await auditSearch.head()),
  );

  plane.get(
    '/operator/sign-ins',
    { schema: { querystring: signInPageSchema, response: { 200: signInListSchema } } },
    async ({ query }) => {
      const { who, before, limit } = query;
      return signInsToWire(await audit.signIns({ who, before, most: limit }));
    },
  );
}
