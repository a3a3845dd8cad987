import { amountField, amountText, parseAmount } from '#http/pages/amount-field.ts';
import type { Form } from '#http/pages/form.ts';
import { formatsOf } from '#http/pages/format.ts';
import { html } from '#http/pages/html.ts';
import { alertOf } from '#http/pages/layout.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { personPage } from '#http/pages/person-page.ts';
import { CAP_TEXTS as TEXTS } from '#http/pages/texts/topup.ts';
import type { TopupVisit } from '#http/pages/topup.ts';
import { whoIsSignedIn } from '#http/pages/topup-step.ts';
import { type PageAnswer, redirectTo, refusedBy } from '#http/pages/visit.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** Of a wallet whose monthly cap refused a call: its owner sets another, or goes on to pay (WA-03). */
export function capPage(pages: PeoplePages, topup: TopupVisit, fault?: Refusal, typed?: string): PageAnswer {
  const { visit, connection, appName, path } = topup;
  const { wallet, cap, isPaused } = connection;
  const format = formatsOf(visit.exchange.request);
  const text = typed ?? (cap === undefined ? '' : amountText(cap));
  const fields = html`${amountField({ name: 'cap', label: TEXTS.field(wallet.currency), text })}
<div class="row">
<button name="set" value="cap">${TEXTS.set}</button>
<button class="quiet" name="set" value="none">${TEXTS.unlimited}</button>
</div>`;
  const body = html`${alertOf(fault?.message)}
<section>
<p>${isPaused ? TEXTS.paused(appName) : TEXTS.reached(appName)}</p>
<dl>
<dt>${TEXTS.present}</dt><dd>${cap === undefined ? TEXTS.none : format.amount(cap, wallet.currency)}</dd>
<dt>${TEXTS.spent}</dt><dd>${format.amount(wallet.spentThisMonth, wallet.currency)}</dd>
</dl>
${visit.form(`${path}/cap`, fields)}
<p><a href="${path}/pay">${TEXTS.pay}</a></p>
</section>
${whoIsSignedIn(visit, topup.person)}`;
  const page = personPage(pages, { title: TEXTS.title(appName), body, isError: fault !== undefined });
  return fault === undefined ? { status: 200, page } : refusedBy(fault, page);
}

/** Sets the cap that was typed, or none, and goes on to the amounts. */
export async function setCap(pages: PeoplePages, topup: TopupVisit, form: Form): Promise<PageAnswer> {
  const { connectionId, identityId } = topup.connection;
  const typed = form.field('cap');
  const cap = form.field('set') === 'none' ? undefined : parseAmount(typed);
  if (cap === undefined && form.field('set') !== 'none') {
    return capPage(pages, topup, refuse('BAD_REQUEST', TEXTS.notAnAmount), typed);
  }
  await pages.connections.setCap({ connectionId, identityId }, cap);
  return redirectTo(`${topup.path}/pay?cap=set`);
}
