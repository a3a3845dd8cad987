import type { Connection } from '#connections/connection.ts';
import { amountField } from '#http/pages/amount-field.ts';
import type { Form } from '#http/pages/form.ts';
import { type Formats, formatsOf } from '#http/pages/format.ts';
import { type Html, html } from '#http/pages/html.ts';
import { alertOf, noticeOf } from '#http/pages/layout.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { personPage } from '#http/pages/person-page.ts';
import { TOPUP_TEXTS as TEXTS } from '#http/pages/texts/topup.ts';
import { chosenAmount, leastPayment, offeredAmounts } from '#http/pages/topup-amounts.ts';
import { type PageAnswer, redirectTo, refusedBy, type Visit } from '#http/pages/visit.ts';
import type { Person } from '#identities/session.ts';
import type { Micros } from '#kernel/micros.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { PayableAmounts } from '#payments/amounts.ts';
import type { Checkouts } from '#payments/checkout.ts';

/** A wallet that is to be paid into, by whoever is signed in. */
export interface TopupStep {
  readonly person: Person;
  readonly appName: string;
  /** Of the wallet, which may be somebody else's: then nothing of it is shown. */
  readonly connection: Connection;
  /** The smallest hold of the call that was refused, where one was. */
  readonly hold: Micros | undefined;
  /** Of the link that a payment spends; undefined where none is to be. */
  readonly linkDigest: Buffer | undefined;
  /** The address of the form. */
  readonly action: string;
  /** Where the payer goes afterwards, and where he goes if he does not want to pay now; a path of ours. */
  readonly next: string | undefined;
}

interface Shown {
  readonly fault?: Refusal;
  readonly typed?: string;
  readonly notice?: string | undefined;
}

/** Browsers drop larger cookies: then the payer finds his own way back. */
const NEXT_LENGTH_MAX = 3_500;
/** The only way on that there is: the end of a connection. */
export const NEXT_PATH = /^(\/connect\/[A-Za-z0-9_-]+\/done)$/;

/** The amounts to choose from. Changes nothing. */
export function topupStep(pages: PeoplePages, visit: Visit<Person>, step: TopupStep, shown: Shown = {}): PageAnswer {
  const { connection, appName } = step;
  const isOwner = isOwnerOf(step);
  const format = formatsOf(visit.exchange.request);
  const isBlocked = isOwner && connection.wallet.isSuspended;
  const body = html`${alertOf(shown.fault?.message)}${noticeOf(shown.notice)}
${isBlocked ? html`<p class="alert">${TEXTS.suspended(pages.operatorName)}</p>` : undefined}
<section>
${isOwner ? ownerLines(format, step) : html`<p>${TEXTS.gift}</p>`}
${pages.checkouts === undefined ? html`<p>${TEXTS.notSetUp(pages.operatorName)}</p>` : amountForm(pages.checkouts, visit, step, shown)}
${step.next === undefined ? undefined : html`<p><a href="${step.next}">${TEXTS.skip}</a></p>`}
</section>
${whoIsSignedIn(visit, step.person)}`;
  const title = isOwner ? TEXTS.title(appName) : TEXTS.giftTitle(appName);
  const page = personPage(pages, { title, body, isError: shown.fault !== undefined });
  const needs = { formTargets: pages.checkouts?.formTargets ?? [] };
  return { ...(shown.fault === undefined ? { status: 200, page } : refusedBy(shown.fault, page)), needs };
}

/** Takes the form of those amounts and leads to the processor. Two checkouts are harmless: what counts is a payment. */
export async function beginTopup(
  pages: PeoplePages,
  visit: Visit<Person>,
  form: Form,
  step: TopupStep,
): Promise<PageAnswer> {
  const { checkouts, cookies, tries } = pages;
  if (checkouts === undefined) return topupStep(pages, visit, step);
  const { appId, userId, wallet } = step.connection;
  const payable = checkouts.amountsIn(wallet.currency);
  const amount = chosenAmount(form, payable);
  if (typeof amount === 'string') {
    const fault = refuse('BAD_REQUEST', faultOf(amount, formatsOf(visit.exchange.request), wallet.currency, payable));
    return topupStep(pages, visit, step, { fault, typed: form.field('other') });
  }
  const tooMany = await tries.take([{ kind: 'checkout-from', of: pages.addressOf(visit.exchange.request) }]);
  if (tooMany !== undefined) return topupStep(pages, visit, step, { fault: tooMany, typed: form.field('other') });
  const { identityId, email } = step.person.identity;
  const { checkoutId, url } = await checkouts.begin({
    appId,
    userId,
    identityId,
    amount,
    appName: step.appName,
    email,
    linkDigest: step.linkDigest,
  });
  const next = `${checkoutId}:${step.next}`;
  const isKept = step.next !== undefined && next.length <= NEXT_LENGTH_MAX;
  return redirectTo(url, isKept ? [cookies.write('next', next)] : []);
}

function isOwnerOf({ person, connection }: TopupStep): boolean {
  return connection.identityId === person.identity.identityId;
}

function ownerLines(format: Formats, { appName, connection: { wallet } }: TopupStep): Html {
  const balance = html`<dl><dt>${TEXTS.available}</dt><dd>${format.amount(wallet.available, wallet.currency)}</dd></dl>
`;
  return html`${wallet.isSuspended ? undefined : balance}<p>${TEXTS.explain(appName)}</p>`;
}

function amountForm(checkouts: Checkouts, visit: Visit<Person>, step: TopupStep, { typed = '' }: Shown): Html {
  const { wallet } = step.connection;
  const { currency } = wallet;
  const { amount } = formatsOf(visit.exchange.request);
  const payable = checkouts.amountsIn(currency);
  const offered = offeredAmounts(payable);
  // Another's wallet: that amount would tell what is in it.
  const isTold = isOwnerOf(step) && !wallet.isSuspended;
  const least = isTold ? leastPayment(step.hold, wallet.available, payable) : undefined;
  const fields = html`<fieldset class="choices">
<legend>${TEXTS.amount}</legend>
${offered.choices.map((choice) => choiceOf(choice, amount(choice, currency)))}${
  least === undefined ? undefined : choiceOf(least, TEXTS.least(amount(least, currency)), 'least')
}</fieldset>
${amountField({ name: 'other', label: TEXTS.other(currency), text: typed })}
<p class="soft">${TEXTS.range(amount(offered.least, currency), amount(offered.most, currency))}</p>
<button>${TEXTS.goOn}</button>`;
  return visit.form(step.action, fields);
}

function choiceOf(amount: Micros, text: string, id = `amount-${amount}`): Html {
  return html`<label for="${id}"><input id="${id}" type="radio" name="amount" value="${String(amount)}"><span>${text}</span></label>
`;
}

function faultOf(
  fault: 'none' | 'two' | 'unusable',
  format: Formats,
  currency: string,
  payable: PayableAmounts,
): string {
  if (fault === 'none') return TEXTS.chooseOne;
  if (fault === 'two') return TEXTS.chooseOnlyOne;
  const { least, most } = offeredAmounts(payable);
  const [from, to, unit] = [least, most, payable.unit].map((one) => format.amount(one, currency));
  return TEXTS.notAnAmount(from ?? '', to ?? '', unit ?? '');
}

/** Who pays, and the way out for who is somebody else. */
export function whoIsSignedIn(visit: Visit<Person>, { identity }: Person): Html {
  return html`<div class="soft">
<p>${TEXTS.signedInAs(identity.email)}</p>
${visit.form('/wallet/sign-out', html`<button class="quiet">${TEXTS.signOut}</button>`)}
</div>`;
}
