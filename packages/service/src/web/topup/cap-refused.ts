import { html } from '#kernel/html.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import { amountField } from '#web/components/amount-field.ts';
import { appMark } from '#web/components/app-mark.ts';
import { button, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/frame/read-form.ts';
import { redirectTo, showPage } from '#web/frame/responses.ts';
import { CAP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { type OpenedLink, signedInAs, voidLink, type WalletOwnerRequest } from '#web/wallet-owner/open-link.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';

/** For the owner of a wallet whose monthly cap refused a call: they set another cap, or keep it and pay (WA-03). */
export function capPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { app, connection, person }: OpenedLink,
  refused?: { readonly fault: Refusal; readonly typed: string },
): PageResponse {
  if (connection === undefined) return voidLink(services); // Does not happen: people get here after consent.
  const { wallet, cap, isPaused } = connection;
  const { currency } = wallet;
  const path = `/topup/${request.part}`;
  const { amount } = request.formats;
  const text = refused?.typed ?? (cap === undefined ? '' : amountText(cap));
  // Two buttons of one form: `set` tells which was pressed.
  const fields = html`${amountField({ name: 'cap', label: TEXTS.field(currency), text })}
${row(
  button(TEXTS.set, { name: 'set', value: 'cap' }),
  button(TEXTS.unlimited, { kind: 'quiet', name: 'set', value: 'none' }),
)}`;
  const body = html`${errorSummary(refused?.fault.message)}
<section>
${appMark(app)}
<p>${isPaused ? TEXTS.paused(app.name) : TEXTS.reached(app.name)}</p>
${definitionList([
  [TEXTS.present, cap === undefined ? TEXTS.none : amount(cap, currency)],
  [TEXTS.spent, amount(wallet.spentThisMonth, currency)],
])}
${request.form(`${path}/cap`, fields)}
${linkLine(`${path}/pay`, TEXTS.pay)}
</section>
${signedInAs(request, person.identity, path)}`;
  const page = walletOwnerPage(services, { title: TEXTS.title(app.name), body, isError: refused !== undefined });
  return showPage(page, refused?.fault);
}

/** Sets the cap that was typed, or none, and goes on to the amounts. */
export async function setCap(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  opened: OpenedLink,
  form: Form,
): Promise<PageResponse> {
  if (opened.connection === undefined) return voidLink(services);
  const { connectionId, identityId } = opened.connection;
  const typed = form.field('cap');
  const isUnlimited = form.field('set') === 'none';
  const cap = isUnlimited ? undefined : parseAmount(typed);
  if (cap === undefined && !isUnlimited) {
    return capPage(services, request, opened, { fault: refuse('BAD_REQUEST', TEXTS.notAnAmount), typed });
  }
  // The query makes the next page say so. It proves nothing, and the page shows it to the owner only.
  await services.connections.setCap({ connectionId, identityId }, cap);
  return redirectTo(`/topup/${request.part}/pay?cap=set`);
}
