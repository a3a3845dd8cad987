import { identityQuerySchema } from '@purser/contract/operator-people.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletOwner } from '#operator/people/wallet-owners.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { filterForm } from '#web/fields/filter.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { checked } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { PERSON_TEXTS as TEXTS } from '#web/ops/wallets/texts.ts';

/** The page `/ops/person?email=`, which shows a person who owns wallets. */
export const personPage: OpsPage = {
  GET: async (asked) => {
    const [email, done] = [asked.asks('email'), asked.asks('done')];
    const found = email === '' ? undefined : await personWith(asked, email);
    const refusal = found instanceof Refusal ? found : undefined;
    const person = found instanceof Refusal ? undefined : found;
    const isMoved = done === 'moved' && person !== undefined;
    const isDeleted = done === 'deleted' && email === '';
    const body = html`${errorSummary(refusal?.message)}${successNotice(isMoved ? TEXTS.moved : isDeleted ? TEXTS.deleted : undefined)}
<p class="soft">${TEXTS.what}</p>
${filterForm(opsPath('person'), 'live', [{ name: 'email', label: TEXTS.email, value: email }])}
${person && (await personOf(asked, person))}`;
    return asked.show({ title: TEXTS.title, body, below: 'wallets', refusal });
  },
};

/** The person who signs in with this e-mail, by the rules of the route. */
export async function personWith(
  { operator }: OpsRequest,
  email: string,
): Promise<WalletOwner | Refusal<'BAD_REQUEST' | 'NOT_FOUND'>> {
  const asked = checked(identityQuerySchema, { email }, { email: TEXTS.email });
  if (asked instanceof Refusal) return asked;
  return (await operator.walletOwners.find(asked.email)) ?? refuse('NOT_FOUND', TEXTS.none);
}

async function personOf(
  { operator, may, appLink }: OpsRequest,
  { identityId, email, wallets }: WalletOwner,
): Promise<Html> {
  const names = await operator.apps.names(wallets.map(({ appId }) => appId));
  const list = listing({
    caption: TEXTS.wallets,
    columns: TEXTS.columns,
    rows: wallets.map(({ appId, userId }) => [
      appLink(appId, names),
      html`<a href="${opsPath('wallet', { app: appId, user: userId })}">${code(userId)}</a>`,
    ]),
    empty: TEXTS.noWallets,
  });
  const facts = definitionList([
    [TEXTS.email, email],
    [TEXTS.identity, code(identityId)],
  ]);
  const ways = (['person-move', 'person-export', 'person-delete'] as const).filter(may);
  const links = ways.map((page) => buttonLink(opsPath(page, { email }), TEXTS.ways[page], 'quiet'));
  return html`${card(facts, links.length === 0 ? undefined : row(...links))}\n${card(list)}`;
}
