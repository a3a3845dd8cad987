import { amountField, amountText, parseAmount } from '#web/components/amount-field.ts';
import type { Form } from '#web/frame/form.ts';
import { formatsOf } from '#web/components/format.ts';
import { html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/layout.ts';
import { type OpenedLink, type PersonVisit, signedInAs, voidLink } from '#web/person/link-visit.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { CAP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { type PageAnswer, redirectTo, refusedBy } from '#web/frame/visit.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** Of a wallet whose monthly cap refused a call: its owner sets another, or goes on to pay (WA-03). */
export function capPage(
  pages: PeoplePages,
  visit: PersonVisit,
  { app, connection, person }: OpenedLink,
  refused?: { readonly fault: Refusal; readonly typed: string },
): PageAnswer {
  if (connection === undefined) return voidLink(pages); // Whoever is here has consented.
  const { wallet, cap, isPaused } = connection;
  const path = `/topup/${visit.part}`;
  const format = formatsOf(visit.exchange.request);
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
${visit.form(`${path}/cap`, fields)}
<p><a href="${path}/pay">${TEXTS.pay}</a></p>
</section>
${signedInAs(visit, person.identity, path)}`;
  const page = personPage(pages, { title: TEXTS.title(app.name), body, isError: refused !== undefined });
  return refused === undefined ? { status: 200, page } : refusedBy(refused.fault, page);
}

/** Sets the cap that was typed, or none, and goes on to the amounts. */
export async function setCap(
  pages: PeoplePages,
  visit: PersonVisit,
  opened: OpenedLink,
  form: Form,
): Promise<PageAnswer> {
  if (opened.connection === undefined) return voidLink(pages);
  const { connectionId, identityId } = opened.connection;
  const typed = form.field('cap');
  const isUnlimited = form.field('set') === 'none';
  const cap = isUnlimited ? undefined : parseAmount(typed);
  if (cap === undefined && !isUnlimited) {
    return capPage(pages, visit, opened, { fault: refuse('BAD_REQUEST', TEXTS.notAnAmount), typed });
  }
  await pages.connections.setCap({ connectionId, identityId }, cap);
  return redirectTo(`/topup/${visit.part}/pay?cap=set`);
}
