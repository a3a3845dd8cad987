import type { Connection } from '#connections/connection.ts';
import { appMark } from '#web/components/app-mark.ts';
import { amountField } from '#web/components/amount-field.ts';
import type { Form } from '#web/frame/form.ts';
import { type Formats, formatsOf } from '#web/components/format.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, noticeOf } from '#web/frame/layout.ts';
import { type OpenedLink, type PersonVisit, signedInAs } from '#web/person/link-visit.ts';
import { spendableOf } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { TOPUP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { chosenAmount, leastPayment, offeredAmounts } from '#web/topup/topup-amounts.ts';
import { type PageAnswer, redirectTo, refusedBy } from '#web/frame/visit.ts';
import type { Micros } from '#kernel/micros.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { PayableAmounts } from '#payments/amounts.ts';
import { ProcessorAway } from '#payments/checkout.ts';

/** A wallet that is to be paid into: the own one, which is connected, or somebody else's. */
export interface TopupStep {
  readonly opened: OpenedLink;
  /** The page to come back to after another sign-in. */
  readonly path: string;
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
export async function topupStep(
  pages: PeoplePages,
  visit: PersonVisit,
  step: TopupStep,
  shown: Shown = {},
): Promise<PageAnswer> {
  const { app, connection, person } = step.opened;
  const { checkouts, operatorName } = pages;
  const currency = await currencyOf(pages, step.opened);
  const format = formatsOf(visit.exchange.request);
  const form =
    checkouts === undefined
      ? html`<p>${TEXTS.notSetUp(operatorName)}</p>`
      : visit.form(step.action, amountFields(format, checkouts.amountsIn(currency), { currency, step, shown }));
  const body = html`${alertOf(shown.fault?.message)}${noticeOf(shown.notice)}
${connection?.wallet.isSuspended === true ? html`<p class="alert">${TEXTS.suspended(operatorName)}</p>` : undefined}
<section>
${appMark(app)}
${connection === undefined ? html`<p>${TEXTS.gift}</p>` : ownerLines(format, app.name, connection)}
${form}
${step.next === undefined ? undefined : html`<p><a href="${step.next}">${TEXTS.skip}</a></p>`}
</section>
${signedInAs(visit, person.identity, step.path)}`;
  const title = connection === undefined ? TEXTS.giftTitle(app.name) : TEXTS.title(app.name);
  const page = personPage(pages, { title, body, isError: shown.fault !== undefined });
  const needs = { formTargets: checkouts?.formTargets ?? [] };
  return { ...(shown.fault === undefined ? { status: 200, page } : refusedBy(shown.fault, page)), needs };
}

/** Takes the form of those amounts and leads to the processor. Two checkouts are harmless: what counts is a payment. */
export async function beginTopup(
  pages: PeoplePages,
  visit: PersonVisit,
  form: Form,
  step: TopupStep,
): Promise<PageAnswer> {
  const { checkouts, cookies, attempts } = pages;
  if (checkouts === undefined) return topupStep(pages, visit, step);
  const { link, app, person } = step.opened;
  const typed = form.field('other');
  const currency = await currencyOf(pages, step.opened);
  const payable = checkouts.amountsIn(currency);
  const amount = chosenAmount(form, payable);
  if (typeof amount === 'string') {
    const said = faultOf(amount, formatsOf(visit.exchange.request), currency, payable);
    return topupStep(pages, visit, step, { fault: refuse('BAD_REQUEST', said), typed });
  }
  const fault = await attempts.take([{ kind: 'checkout-from', of: pages.addressOf(visit.exchange.request) }]);
  if (fault !== undefined) return topupStep(pages, visit, step, { fault, typed });
  try {
    const { checkoutId, url } = await checkouts.begin({
      appId: link.appId,
      userId: link.userId,
      identityId: person.identity.identityId,
      amount,
      appName: app.name,
      email: person.identity.email,
      linkDigest: link.purpose === 'connect' ? undefined : link.digest,
    });
    const next = `${checkoutId}:${step.next}`;
    const isKept = step.next !== undefined && next.length <= NEXT_LENGTH_MAX;
    return redirectTo(url, isKept ? [cookies.write('next', next)] : []);
  } catch (away) {
    if (!(away instanceof ProcessorAway)) throw away;
    return topupStep(pages, visit, step, { fault: refuse('INTERNAL_SERVER_ERROR', TEXTS.away), typed });
  }
}

/** What a payment is in; of somebody else's wallet it tells no more than its amounts would. */
async function currencyOf(pages: PeoplePages, { link, connection }: OpenedLink): Promise<string> {
  const found = connection ?? (await pages.connections.find(link.appId, link.userId));
  return found?.wallet.currency ?? pages.currency;
}

function ownerLines(format: Formats, appName: string, connection: Connection): Html {
  const { wallet } = connection;
  const balance = html`<dl><dt>${TEXTS.available}</dt><dd>${format.amount(spendableOf(connection), wallet.currency)}</dd></dl>
`;
  return html`${wallet.isSuspended ? undefined : balance}<p>${TEXTS.explain(appName)}</p>`;
}

interface FieldsOf {
  readonly currency: string;
  readonly step: TopupStep;
  readonly shown: Shown;
}

function amountFields({ amount }: Formats, payable: PayableAmounts, { currency, step, shown }: FieldsOf): Html {
  const { link, connection } = step.opened;
  const offered = offeredAmounts(payable);
  const hold = link.purpose === 'connect' ? undefined : link.least;
  // Of somebody else's wallet it would tell what is in it; of a blocked one it would let nothing through.
  const isUseful = connection?.wallet.isSuspended === false;
  const least = isUseful ? leastPayment(hold, connection.wallet.available, payable) : undefined;
  const leastChoice = least && choiceOf(least, TEXTS.least(amount(least, currency)), 'least');
  return html`<fieldset class="choices">
<legend>${TEXTS.amount}</legend>
${offered.choices.map((choice) => choiceOf(choice, amount(choice, currency)))}${leastChoice}</fieldset>
${amountField({ name: 'other', label: TEXTS.other(currency), text: shown.typed ?? '' })}
<p class="soft">${TEXTS.range(amount(offered.least, currency), amount(offered.most, currency))}</p>
<button>${TEXTS.goOn}</button>`;
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
