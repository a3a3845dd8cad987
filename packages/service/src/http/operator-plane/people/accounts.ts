import { accountSchema } from '@purser/contract/control.ts';
import {
  accountListSchema,
  accountPageSchema,
  accountParamsSchema,
  anyAccountDetailsSchema,
  anyAccountSchema,
  changeAnyAccountSchema,
  newAnyAccountSchema,
} from '@purser/contract/operator-accounts.ts';
import type { Account } from '#developers/sessions/session.ts';
import { accountToWire } from '#http/serializers/account-to-wire.ts';
import { actOf, type OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for accounts of developers and operators (CP-05). */
export function addDeveloperAccountRoutes(plane: Plane, operator: OperatorPlane): void {
  const { accounts } = operator;

  plane.get(
    '/operator/accounts',
    { schema: { querystring: accountPageSchema, response: { 200: accountListSchema } } },
    async ({ query }) => {
      const page = await accounts.list({ after: query.after, most: query.limit });
      return { accounts: page.accounts.map(toWire), next: page.next ?? null };
    },
  );

  plane.get(
    '/operator/accounts/:accountId',
    { schema: { params: accountParamsSchema, response: { 200: anyAccountDetailsSchema } } },
    async ({ params: { accountId } }) => {
      const account = granted((await accounts.find(accountId)) ?? refuse('NOT_FOUND', 'There is no such account.'));
      return { account: toWire(account), apps: [...(await accounts.appsOf(accountId))] };
    },
  );

  plane.post(
    '/operator/accounts',
    { schema: { body: newAnyAccountSchema, response: { 201: accountSchema } } },
    async (request, reply) => {
      const account = await accounts.create(actOf(operator, request, undefined), { name: undefined, ...request.body });
      return reply.code(201).send(accountToWire(granted(account)));
    },
  );

  plane.patch(
    '/operator/accounts/:accountId',
    {
      schema: { params: accountParamsSchema, body: changeAnyAccountSchema, response: { 200: anyAccountSchema } },
    },
    async (request) => {
      const { role, operatorRole, disabled, emailVerified, secondFactor, sso, reason } = request.body;
      const change = { role, operatorRole, isDisabled: disabled, isEmailVerified: emailVerified, secondFactor, sso };
      return toWire(granted(await accounts.change(actOf(operator, request, reason), request.params.accountId, change)));
    },
  );
}

/** An account as operators see it: also whether it is disabled. */
function toWire(account: Account) {
  return { ...accountToWire(account), disabled: account.isDisabled, sso: account.isSso };
}
