import { amountField, amountText, parseAmount } from '#web/components/amount-field.ts';
import type { Form } from '#web/frame/read-form.ts';
import { formatsOf } from '#web/format/formats.ts';
import { html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import { type OpenedLink, type WalletOwnerRequest, signedInAs, voidLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { CAP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { type PageResponse, redirectTo, refusedBy } from '#web/frame/page-handlers.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** Of a wallet whose monthly cap refused a call: its owner sets another, or goes on to pay (WA-03). */
export function capPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { app, connection, person }: OpenedLink,
  refused?: { readonly fault: Refusal; readonly typed: string },
): PageResponse {
  if (connection === undefined) return voidLink(services); // Whoever is here has consented.
  const { wallet, cap, isPaused } = connection;
  const path = `/topup/${request.part}`;
  const format = formatsOf(request.exchange.request);
  const text = refused?.typed ?? (cap === undefined ? '' : amountText(cap));
  const fields = html`${amountField({ name: 'cap', label: TEXTS.field(wallet.currency), text })}
<div class="row">
<button name="set" value="cap">${TEXTS.set}</button>
<button class="quiet" name="set" value="none">${TEXTS.unlimited}</button>
</div>`;
  const body = html`${alertOf(refused?.fault.message)}
<section>
${appMark(app)}
<p>${isPaused ? TEXTS.paused(app.name) : TEXTS.reached(app.name)}</p>
<dl>
<dt>${TEXTS.present}</dt><dd>${cap === undefined ? TEXTS.none : format.amount(cap, wallet.currency)}</dd>
<dt>${TEXTS.spent}</dt><dd>${format.amount(wallet.spentThisMonth, wallet.currency)}</dd>
</dl>
${request.form(`${path}/cap`, fields)}
<p><a href="${path}/pay">${TEXTS.pay}</a></p>
</section>
${signedInAs(request, person.identity, path)}`;
  const page = walletOwnerPage(services, { title: TEXTS.title(app.name), body, isError: refused !== undefined });
  return refused === undefined ? { status: 200, page } : refusedBy(refused.fault, page);
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
  await services.connections.setCap({ connectionId, identityId }, cap);
  return redirectTo(`/topup/${request.part}/pay?cap=set`);
}
