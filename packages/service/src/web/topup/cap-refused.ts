import type { Connection } from '#connections/connection.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { amountField } from '#web/fields/fields.ts';
import { appMark, button, definitionList, linkLine, row } from '#web/components/parts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { CAP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { backLine, type OpenedLink, signedInAs, voidLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerRequest } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/**
 * Makes the page for the owner of a wallet whose monthly cap or pause refused a call. They set another cap or resume
 * spending, or they leave it as it is and pay (WA-03).
 */
export function capPage(
  opened: OpenedLink,
  refused?: { readonly fault: Refusal; readonly typed: string },
): PageResponse {
  const { services, request, app, connection } = opened;
  if (connection === undefined) return voidLink(services); // Does not happen: people get here after consent.
  const path = `/topup/${request.part}`;
  const isPaused = connection.isPaused && refused === undefined;
  const body = html`${errorSummary(refused?.fault.message)}
<section>
${appMark(app)}
${isPaused ? pausePart(request, app.name, connection) : capPart(request, app.name, connection, refused?.typed)}
${backLine(app)}
</section>
${signedInAs(opened, path)}`;
  const title = isPaused ? TEXTS.pausedTitle(app.name) : TEXTS.title(app.name);
  return showWalletOwnerPage(services, { title, body, refusal: refused?.fault });
}

function capPart(request: WalletOwnerRequest, appName: string, { wallet, cap }: Connection, typed?: string): Html {
  const { currency } = wallet;
  const { amount } = request.formats;
  const path = `/topup/${request.part}`;
  const text = typed ?? (cap === undefined ? '' : amountText(cap));
  // Two buttons of one form: `set` tells which was pressed.
  const fields = html`${amountField({ name: 'cap', label: TEXTS.field(currency), text })}
${row(
  button(TEXTS.set, { name: 'set', value: 'cap' }),
  button(TEXTS.unlimited, { kind: 'quiet', name: 'set', value: 'none' }),
)}`;
  return html`<p>${TEXTS.reached(appName)}</p>
${definitionList([
  [TEXTS.present, cap === undefined ? TEXTS.none : amount(cap, currency)],
  [TEXTS.spent, amount(wallet.spentThisMonth, currency)],
])}
${request.form(`${path}/cap`, fields)}
${linkLine(`${path}/pay`, TEXTS.pay)}`;
}

/** The cap that comes back, and the way out of the pause. */
function pausePart(request: WalletOwnerRequest, appName: string, { wallet, cap }: Connection): Html {
  const { amount } = request.formats;
  const path = `/topup/${request.part}`;
  return html`<p>${TEXTS.paused(appName)}</p>
${definitionList([
  [TEXTS.monthlyCap, cap === undefined ? TEXTS.none : amount(cap, wallet.currency)],
  [TEXTS.spent, amount(wallet.spentThisMonth, wallet.currency)],
])}
${request.form(`${path}/cap`, button(TEXTS.resume, { name: 'set', value: 'resume' }))}
${linkLine(`${path}/pay`, TEXTS.stayPaused)}`;
}

/** Whether a cap was set or a pause ended, for the next page to say so. It proves nothing, and only the owner sees it. */
export function noticeOf(query: string, appName: string): string | undefined {
  if (query === CAP_IS_SET) return TEXTS.done(appName);
  return query === IS_RESUMED ? TEXTS.resumed(appName) : undefined;
}

const CAP_IS_SET = 'cap=set';
const IS_RESUMED = 'cap=resumed';

/** Sets the cap that was typed, or none, or ends the pause, and goes on to the amounts. */
export async function setCap(opened: OpenedLink, form: Form): Promise<PageResponse> {
  const { services, request, connection } = opened;
  if (connection === undefined) return voidLink(services);
  const { connectionId, identityId } = connection;
  const way = `/topup/${request.part}`;
  if (form.field('set') === 'resume') {
    await services.connections.setPaused({ connectionId, identityId }, false);
    return redirectTo(`${way}/pay?${IS_RESUMED}`);
  }
  const typed = form.field('cap');
  const isUnlimited = form.field('set') === 'none';
  const cap = isUnlimited ? undefined : parseAmount(typed);
  if (cap === undefined && !isUnlimited) {
    return capPage(opened, { fault: refuse('BAD_REQUEST', TEXTS.notAnAmount), typed });
  }
  await services.connections.setCap({ connectionId, identityId }, cap);
  return redirectTo(`${way}/pay?${CAP_IS_SET}`);
}
