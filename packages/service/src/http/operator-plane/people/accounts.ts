import { ACCOUNT_ROUTES } from '@purser/contract/operator-accounts.ts';
import type { OperatorRoutes } from '#http/planes/operator-routes.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import { granted } from '#http/planes/planes.ts';
import { shownAccount } from '#http/serializers/account.ts';
import { refuse } from '#kernel/faults/refusal.ts';

/** Routes for accounts of developers and operators (CP-05). */
export function addDeveloperAccountRoutes(routes: OperatorRoutes, operator: OperatorPlane): void {
  const { accounts } = operator;
  const add = routes(ACCOUNT_ROUTES);

  add('GET /operator/accounts', async ({ query: { after, limit } }) => {
    const page = await accounts.list({ after, most: limit });
    return { ...page, accounts: page.accounts.map(shownAccount) };
  });

  add('GET /operator/accounts/{accountId}', async ({ params: { accountId } }) => {
    const account = granted((await accounts.find(accountId)) ?? refuse('NOT_FOUND', 'There is no such account.'));
    return { account: shownAccount(account), apps: await accounts.appsOf(accountId) };
  });

  add('POST /operator/accounts', async ({ act, body }) =>
    shownAccount(granted(await accounts.create(act, { name: undefined, ...body }))),
  );

  add('PATCH /operator/accounts/{accountId}', async ({ act, params, body }) =>
    shownAccount(granted(await accounts.change(act, params.accountId, body))),
  );
}
