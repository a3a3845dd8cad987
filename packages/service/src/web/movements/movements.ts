import type { CallUsage } from '#calls/usage/usage.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { CallId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { MovementPage, NamedWallet, WalletMovement } from '#ledger/history/movements.ts';
import { parsePlace, type Place } from '#ledger/history/place.ts';
import { alignedAmount, moment } from '#web/figures/figures.ts';
import { shortSession } from '#web/figures/session-list.ts';
import type { Formats } from '#web/format/formats.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Where a page of movements starts: below the movement that the address names. If it is undefined, the list begins with the newest. */
export function startOf(query: URLSearchParams): Place | undefined {
  return parsePlace(query.get('before') ?? '');
}

export interface MovementsRead {
  readonly movements: readonly WalletMovement[];
  readonly calls: ReadonlyMap<CallId, CallUsage>;
}

/** A page of movements, with the usage of the calls among them. */
export async function readMovements(
  services: Pick<WalletOwnerServices, 'movements' | 'usage'>,
  wallet: NamedWallet,
  page: MovementPage,
): Promise<MovementsRead> {
  const movements = await services.movements.page(wallet, page);
  const calls = movements.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  return { movements, calls: await services.usage.ofCalls(wallet, calls) };
}

/** A line of a table of movements. */
export interface Line {
  readonly what: Html | string;
  /** By how much the balance changes. With `none`, it does not. */
  readonly amount: Micros;
  readonly direction: 'in' | 'out' | 'none';
  readonly balanceAfter: Micros;
}

/** The columns of every table of movements. */
export const COLUMNS = [
  { name: MOVEMENT_TEXTS.what },
  { name: MOVEMENT_TEXTS.amount, isNumeric: true },
  { name: MOVEMENT_TEXTS.balanceAfter, isNumeric: true },
] as const;

/** The cells of these lines, with decimals under decimals across all of them. */
export function cellsOf(
  lines: readonly Line[],
  currency: string,
  formats: Formats,
): ReadonlyMap<Line, readonly (Html | string)[]> {
  const amounts = formats.decimalsOf(
    lines.filter(({ direction }) => direction !== 'none').map(({ amount }) => amount),
    currency,
  );
  const balances = formats.decimalsOf(
    lines.map(({ balanceAfter }) => balanceAfter),
    currency,
  );
  return new Map(
    lines.map((line) => {
      const { what, amount, direction, balanceAfter } = line;
      const change =
        direction === 'none'
          ? html`<span class="soft">${MOVEMENT_TEXTS.noChange}</span>`
          : alignedAmount({ amount, currency }, { direction, decimals: amounts }, formats);
      return [line, [what, change, alignedAmount({ amount: balanceAfter, currency }, { decimals: balances }, formats)]];
    }),
  );
}

/** One movement. A refund that is paid out left the balance when it was set aside, so it does not change it now. */
export function lineOf(
  movement: WalletMovement,
  calls: MovementsRead['calls'],
  { currency, formats }: { readonly currency: string; readonly formats: Formats },
): Line {
  const { kind, callId, atMs, amount, direction, balanceAfter } = movement;
  const name = callId === undefined ? MOVEMENT_TEXTS.movement(kind) : callText(callId, calls);
  const beside =
    direction === 'beside' ? html`${MOVEMENT_TEXTS.asideBefore(formats.amount(amount, currency))}<br>` : undefined;
  const what = html`${name}<br>
<span class="soft">${beside}${moment(atMs, formats)}</span>`;
  return { what, amount, direction: direction === 'beside' ? 'none' : direction, balanceAfter };
}

/** A call: the link to its receipt, and the tokens it used. Without usage, the link alone. */
function callText(callId: CallId, calls: MovementsRead['calls']): Html {
  const used = calls.get(callId);
  const name = MOVEMENT_TEXTS.call(used?.model);
  const link = html`<a href="?receipt=${callId}">${name}</a>`;
  if (used === undefined) return link;
  const late = used.isLate ? html`<br>${MOVEMENT_TEXTS.late}` : undefined;
  const session =
    used.session === undefined ? undefined : html`<br>${MOVEMENT_TEXTS.session} ${shortSession(used.session)}`;
  return html`${link}<br>
<span class="soft">${MOVEMENT_TEXTS.tokens(used.promptTokens, used.completionTokens)}${session}${late}</span>`;
}
