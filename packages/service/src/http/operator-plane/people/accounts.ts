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
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { shownAccount } from '#http/serializers/account.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for accounts of developers and operators (CP-05). */
export function addDeveloperAccountRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { accounts } = operator;

  routes.show(
    '/operator/accounts',
    { query: accountPageSchema, answer: accountListSchema },
    async ({ query: { after, limit } }) => {
      const page = await accounts.list({ after, most: limit });
      return { ...page, accounts: page.accounts.map(shownAccount) };
    },
  );

  routes.show(
    '/operator/accounts/:accountId',
    { params: accountParamsSchema, answer: anyAccountDetailsSchema },
    async ({ params: { accountId } }) => {
      const account = granted((await accounts.find(accountId)) ?? refuse('NOT_FOUND', 'There is no such account.'));
      return { account: shownAccount(account), apps: await accounts.appsOf(accountId) };
    },
  );

  routes.act(
    'POST /operator/accounts',
    { body: newAnyAccountSchema, answer: accountSchema, status: 201 },
    async (act, { body }) => shownAccount(granted(await accounts.create(act, { name: undefined, ...body }))),
  );

  routes.act(
    'PATCH /operator/accounts/:accountId',
    { params: accountParamsSchema, body: changeAnyAccountSchema, answer: anyAccountSchema },
    async (act, { params, body }) => shownAccount(granted(await accounts.change(act, params.accountId, body))),
  );
}
