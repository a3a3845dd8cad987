import { checkFields } from '@purser/contract/check-fields.ts';
import { identityQuerySchema } from '@purser/contract/operator-people.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletOwner } from '#operator/people/wallet-owners.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { filterForm } from '#web/fields/filter.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { type AppNames, appLink } from '#web/ops/frame/links.ts';
import { PERSON_TEXTS as TEXTS, WALLETS_TEXTS } from '#web/ops/wallets/texts.ts';

/** Makes the page `/ops/person?email=`, which shows a person who owns wallets. */
export function personPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const email = query.get('email')?.trim() ?? '';
      const found = email === '' ? undefined : await personWith(services, email);
      const refusal = found !== undefined && 'code' in found ? found : undefined;
      const owned = found === undefined || 'code' in found ? [] : found.wallets;
      const names = await services.operator.apps.names(owned.map(({ appId }) => appId));
      const isMoved = query.get('done') === 'moved' && found !== undefined && refusal === undefined;
      const isDeleted = query.get('done') === 'deleted' && email === '';
      const body = html`${errorSummary(refusal?.message)}${successNotice(isMoved ? TEXTS.moved : isDeleted ? TEXTS.deleted : undefined)}
<p class="soft">${TEXTS.what}</p>
${filterForm(opsPath('person'), 'live', [{ name: 'email', label: TEXTS.email, value: email }])}
${found === undefined || 'code' in found ? undefined : personOf(asked, found, names)}`;
      return showOpsPage(services, asked, {
        title: TEXTS.title,
        body,
        page: 'wallets',
        above: WALLETS_TEXTS.title,
        refusal,
      });
    },
  });
}

/** The person who signs in with this e-mail, by the rules of the route. */
export async function personWith(
  { operator }: OpsServices,
  email: string,
): Promise<WalletOwner | Refusal<'BAD_REQUEST' | 'NOT_FOUND'>> {
  const checked = checkFields(identityQuerySchema, { email }, { email: TEXTS.email });
  if ('problems' in checked) {
    return refuse('BAD_REQUEST', checked.problems.map(({ message }) => message).join(' '));
  }
  return (await operator.walletOwners.find(checked.value.email)) ?? refuse('NOT_FOUND', TEXTS.none);
}

function personOf({ role, may }: OpsRequest, { identityId, email, wallets }: WalletOwner, names: AppNames): Html {
  const list = table({
    caption: TEXTS.wallets,
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: wallets.map(({ appId, userId }) => [
      appLink(role, appId, names),
      html`<a href="${opsPath('wallet', { app: appId, user: userId })}"><code>${userId}</code></a>`,
    ]),
    empty: TEXTS.noWallets,
  });
  const facts = definitionList([
    [TEXTS.email, email],
    [TEXTS.identity, html`<code>${identityId}</code>`],
  ]);
  const ways = (['person-move', 'person-export', 'person-delete'] as const).filter(may);
  const links = ways.map((page) => buttonLink(opsPath(page, { email }), TEXTS.ways[page], 'quiet'));
  return html`${card(facts, links.length === 0 ? undefined : row(...links))}\n${card(list)}`;
}
