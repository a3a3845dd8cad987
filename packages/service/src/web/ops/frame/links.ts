import { isAtLeastOperator, OPERATOR_ACCESS, type OperatorRole } from '@purser/contract/operator-access.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Entity } from '#operator/look-up/entities.ts';
import { type AppNames, opsPath } from '#web/ops/frame/details.ts';

/** Whether there is such a page, and this role may open it. `page` is what follows `/ops/`. */
export function mayOpen(role: OperatorRole, page: string): boolean {
  const access = OPERATOR_ACCESS[`GET ${opsPath(page)}`];
  return access !== undefined && isAtLeastOperator(role, access.least);
}

type Place = readonly [page: string, query: Record<string, string>];

/** The page of an entity, with what its address has besides. */
const PAGES: Readonly<Record<Entity['kind'], (id: string, name: string | undefined) => Place>> = {
  call: (id) => ['call', { id }],
  payment: (id) => ['payment', { id }],
  // One page shows a checkout with its payments, refunds, disputes and cases, by the id of any of them.
  refund: (id) => ['payment', { id }],
  checkout: (id) => ['payment', { id }],
  dispute: (id) => ['payment', { id }],
  case: (id) => ['payment', { id }],
  pending: (id) => ['pending', { id }],
  event: (id) => ['event', { id }],
  app: (id) => ['app', { id }],
  key: (id) => ['key', { id }],
  account: (id) => ['account', { id }],
  // The page of a person takes their mail address. Without it, the search leads there.
  identity: (id, name) => (name === undefined ? ['find', { q: id }] : ['person', { email: name }]),
  wallet: (id) => {
    const [app = '', user = ''] = id.split(' ');
    return ['wallet', { app, user }];
  },
};

/** An entity as a link to its page, or as text if it has none, or none that this operator may open. `name`: shown in place of its id. */
export function entityLink(role: OperatorRole, { kind, id }: Entity, name?: string): Html {
  const [page, query] = PAGES[kind](id, name);
  const text = name === undefined ? html`<code>${id}</code>` : html`${name}`;
  return mayOpen(role, page) ? html`<a href="${opsPath(page, query)}">${text}</a>` : text;
}

/** An app by its name, with its id below: several apps may have one name. */
export function appLink(role: OperatorRole, appId: string, names: AppNames): Html {
  const name = names.get(appId);
  const link = entityLink(role, { kind: 'app', id: appId }, name);
  return name === undefined ? link : html`${link}<br><code class="soft">${appId}</code>`;
}
