import type { CallUsage } from '#usage/usage.ts';
import { type Formats } from '#web/format/formats.ts';
import { type Html, html } from '#kernel/html.ts';
import type { OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { CallId } from '#kernel/ids.ts';
import type { WalletMovement } from '#ledger/wallet/movements.ts';

const MOVEMENTS_SHOWN_MAX = 50;
const SEQ = /^[1-9]\d{0,17}$/;

/** Of a page's query: the movement before which the page begins; undefined for the newest page. */
export function beforeOf(query: URLSearchParams): bigint | undefined {
  const before = query.get('before') ?? '';
  return SEQ.test(before) ? BigInt(before) : undefined;
}

export interface MovementsRead {
  readonly movements: readonly WalletMovement[];
  readonly calls: ReadonlyMap<CallId, CallUsage>;
}

/** Movements with what the calls among them used. */
export async function readMovements(
  services: Pick<WalletOwnerServices, 'movements' | 'usage'>,
  walletId: bigint,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<MovementsRead> {
  const movements = await services.movements.page(walletId, page);
  const calls = movements.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  return { movements, calls: await services.usage.ofCalls(walletId, calls) };
}

/** The section of a connection's page with its movements, from one on. */
export async function movementsSection(
  services: WalletOwnerServices,
  { connection: { wallet }, path }: OwnedWallet,
  formats: Formats,
  before: bigint | undefined,
): Promise<Html> {
  const read = await readMovements(services, wallet.walletId, { before, most: MOVEMENTS_SHOWN_MAX + 1 });
  const shown = read.movements.slice(0, MOVEMENTS_SHOWN_MAX);
  const last = read.movements.length > MOVEMENTS_SHOWN_MAX ? shown.at(-1) : undefined;
  const older = last && html`<a href="${path}?before=${String(last.seq)}">${WALLET_TEXTS.olderMovements}</a>`;
  const newest = before === undefined ? undefined : html`<a href="${path}">${WALLET_TEXTS.newestMovements}</a>`;
  const rows = shown.map((movement) => movementRow(movement, read.calls, wallet.currency, formats));
  const heading = html`<h2 id="movements">${WALLET_TEXTS.movementsTitle}</h2>`;
  const columns = [WALLET_TEXTS.what, WALLET_TEXTS.amount, WALLET_TEXTS.balanceAfter];
  const table = html`<table class="list">
<caption>${heading}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table>
<p><a href="${path}/movements.csv">${WALLET_TEXTS.export}</a></p>`;
  return html`<section aria-labelledby="movements">
${shown.length === 0 ? html`${heading}<p>${WALLET_TEXTS.noMovements}</p>` : table}
${older || newest ? html`<p class="row">${newest} ${older}</p>` : undefined}
</section>`;
}

function movementRow(
  movement: WalletMovement,
  calls: MovementsRead['calls'],
  currency: string,
  formats: Formats,
): Html {
  const { kind, callId, atMs, balanceAfter } = movement;
  const what = callId === undefined ? WALLET_TEXTS.movement(kind) : callText(callId, calls);
  return html`<tr><td>${what}<br>
<span class="soft">${formats.moment(atMs)}</span></td>
<td>${signedAmount(movement, currency, formats)}</td>
<td>${formats.amount(balanceAfter, currency)}</td></tr>
`;
}

/** The way to a call's receipt, and what it used. */
function callText(callId: CallId, calls: MovementsRead['calls']): Html {
  const used = calls.get(callId);
  const name = WALLET_TEXTS.call(used?.model);
  const link = html`<a href="?receipt=${callId}">${name}</a>`;
  if (used === undefined) return link;
  return html`${link}<br>
<span class="soft">${WALLET_TEXTS.tokens(used.promptTokens, used.completionTokens)}</span>`;
}

/** With the sign that the balance goes by. What left the balance before has no sign: it changes nothing. */
function signedAmount({ amount, direction }: WalletMovement, currency: string, formats: Formats): string {
  const sign = { in: '+', out: '−', beside: '' }[direction];
  return `${sign}${formats.amount(amount, currency)}`;
}
