import type { CallUsage } from '#usage/usage.ts';
import { type Html, html } from '#kernel/html.ts';
import type { CallId } from '#kernel/ids.ts';
import type { WalletMovement } from '#ledger/wallet/movements.ts';
import { moment } from '#web/components/moment.ts';
import { signedAmount } from '#web/components/money.ts';
import { linkLine, pager } from '#web/components/navigation.ts';
import { table } from '#web/components/table.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';

/** Fifty keep the page under 50 KB. The file has all of them. */
const MOVEMENTS_SHOWN_MAX = 50;
/** A movement's number, which counts up within a wallet. No zero at the front: one address for one page. */
const SEQ = /^[1-9]\d{0,17}$/;

/** Where a page of movements starts: below the movement that the address names. Undefined: with the newest. */
export function startOf(query: URLSearchParams): bigint | undefined {
  const before = query.get('before') ?? '';
  return SEQ.test(before) ? BigInt(before) : undefined;
}

export interface MovementsRead {
  readonly movements: readonly WalletMovement[];
  readonly calls: ReadonlyMap<CallId, CallUsage>;
}

/** A page of movements, with the usage of the calls among them. */
export async function readMovements(
  services: Pick<WalletOwnerServices, 'movements' | 'usage'>,
  walletId: bigint,
  page: { readonly before: bigint | undefined; readonly most: number },
): Promise<MovementsRead> {
  const movements = await services.movements.page(walletId, page);
  const calls = movements.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  return { movements, calls: await services.usage.ofCalls(walletId, calls) };
}

/** The movements of a wallet, the newest first, or those before `before`. */
export async function movementsSection(
  services: WalletOwnerServices,
  { connection: { wallet }, path, request: { formats } }: OwnedWallet,
  before: bigint | undefined,
): Promise<Html> {
  // One more than is shown tells whether there is an older page, without counting them all.
  const read = await readMovements(services, wallet.walletId, { before, most: MOVEMENTS_SHOWN_MAX + 1 });
  const shown = read.movements.slice(0, MOVEMENTS_SHOWN_MAX);
  const last = read.movements.length > MOVEMENTS_SHOWN_MAX ? shown.at(-1) : undefined;
  const { currency } = wallet;
  const rows = shown.map((movement) => {
    const { kind, callId, atMs, amount, direction, balanceAfter } = movement;
    const what = callId === undefined ? WALLET_TEXTS.movement(kind) : callText(callId, read.calls);
    return [
      html`${what}<br>
<span class="soft">${moment(atMs, formats)}</span>`,
      signedAmount({ amount, currency }, direction, formats),
      formats.amount(balanceAfter, currency),
    ];
  });
  const all = table({
    caption: html`<h2 id="movements">${WALLET_TEXTS.movementsTitle}</h2>`,
    columns: [
      { name: WALLET_TEXTS.what },
      { name: WALLET_TEXTS.amount, isNumeric: true },
      { name: WALLET_TEXTS.balanceAfter, isNumeric: true },
    ],
    rows,
    empty: WALLET_TEXTS.noMovements,
  });
  return html`<section aria-labelledby="movements">
${all}
${shown.length === 0 ? undefined : linkLine(`${path}/movements.csv`, WALLET_TEXTS.export)}
${pager({
  newer: before === undefined ? undefined : { href: path, text: WALLET_TEXTS.newestMovements },
  older: last && { href: `${path}?before=${String(last.seq)}`, text: WALLET_TEXTS.olderMovements },
})}
</section>`;
}

/** A call: the link to its receipt, and the tokens it used. Without usage, the link alone. */
function callText(callId: CallId, calls: MovementsRead['calls']): Html {
  const used = calls.get(callId);
  const name = WALLET_TEXTS.call(used?.model);
  const link = html`<a href="?receipt=${callId}">${name}</a>`;
  if (used === undefined) return link;
  return html`${link}<br>
<span class="soft">${WALLET_TEXTS.tokens(used.promptTokens, used.completionTokens)}</span>`;
}
