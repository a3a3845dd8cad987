import type { Connection } from '#connections/connection.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { PayableAmounts } from '#payments/processor/amounts.ts';
import { ProcessorAway } from '#payments/checkouts.ts';
import { amountField, choiceField, otherField } from '#web/fields/fields.ts';
import { appMark, button, definitionList, linkLine, steps } from '#web/components/parts.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import type { Formats } from '#web/format/formats.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { decideOnStop, type SpendingStop, spendingStopOf, stopField, stopWarning } from '#web/topup/spending-stop.ts';
import { STOP_TEXTS, TOPUP_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { choicesOf, chosenAmount, leastPayment, OTHER_AMOUNT, offeredAmounts } from '#web/topup/topup-amounts.ts';
import { backLine, type OpenedLink, signedInAs } from '#web/wallet-owner/open-link.ts';
import { spendableOf } from '#web/wallet-owner/owned-wallet.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** A wallet to pay into: the payer's own, which is connected, or somebody else's. */
export interface TopupStep {
  readonly opened: OpenedLink;
  /** The page to come back to after another sign-in. */
  readonly path: string;
  /** The address of the form. */
  readonly action: string;
  /** Where the payer goes afterwards, paid or not: a path of ours. Undefined if nothing comes after. */
  readonly next: string | undefined;
  /** The person has just connected the wallet: this is the last of three steps. */
  readonly isLastStep?: boolean;
}

interface Shown {
  readonly fault?: Refusal;
  readonly typed?: string;
  readonly notice?: string | undefined;
}

/** Browsers drop cookies above 4 KB. Without this one, the page of the payment tells the payer to go back by themselves. */
const NEXT_LENGTH_MAX = 3_500;
/** The only page that may come after a payment: the end of connecting. The cookie comes from the browser, so its path is checked. */
export const NEXT_PATH = /^(\/connect\/[A-Za-z0-9_-]+\/done)$/;

/** Shows the amounts to choose from. Changes nothing. */
export async function topupStep(step: TopupStep, shown: Shown = {}): Promise<PageResponse> {
  const { services, request, app, connection } = step.opened;
  const { checkouts, operatorName } = services;
  const currency = await currencyOf(step.opened);
  const { formats } = request;
  const payable = checkouts?.amountsIn(currency);
  const stop = payable && spendingStopOf(step.opened, offeredAmounts(payable));
  const form =
    payable === undefined
      ? html`<p>${TEXTS.notSetUp(operatorName)}</p>`
      : request.form(step.action, amountFields(formats, payable, { currency, step, shown, stop }));
  const body = html`${step.isLastStep === true ? steps(LINK_TEXTS.steps, LINK_TEXTS.steps.length - 1) : undefined}
${errorSummary(shown.fault?.message)}${successNotice(shown.notice)}
${connection?.wallet.isSuspended === true ? warningNotice(TEXTS.suspended(operatorName)) : undefined}
${stop && stopWarning(formats, app.name, stop)}
<section>
${appMark(app)}
${connection === undefined ? html`<p>${TEXTS.gift}</p>` : ownerLines(formats, app.name, connection)}
${form}
${step.next === undefined ? backLine(app) : linkLine(step.next, TEXTS.skip)}
</section>
${signedInAs(step.opened, step.path)}`;
  const title = connection === undefined ? TEXTS.giftTitle(app.name) : TEXTS.title(app.name);
  const needs = { formTargets: checkouts?.formTargets ?? [] };
  return { ...showWalletOwnerPage(services, { title, body, refusal: shown.fault }), needs };
}

/** Takes the form of the amounts and leads to the processor. Sending it twice is harmless: a checkout moves no money, a payment does. */
export async function beginTopup(form: Form, step: TopupStep): Promise<PageResponse> {
  const { services, request, link, app, person } = step.opened;
  const { checkouts, cookies, attempts } = services;
  if (checkouts === undefined) return topupStep(step);
  const typed = form.field('other');
  const currency = await currencyOf(step.opened);
  const payable = checkouts.amountsIn(currency);
  const amount = chosenAmount(form, payable);
  if (typeof amount === 'string') {
    const said = faultOf(amount, request.formats, currency, payable);
    return topupStep(step, { fault: refuse('BAD_REQUEST', said), typed });
  }
  const stop = spendingStopOf(step.opened, offeredAmounts(payable));
  if (stop !== undefined && !(await decideOnStop(services, form, stop))) {
    const said = stop.kind === 'paused' ? STOP_TEXTS.choosePause : STOP_TEXTS.chooseCap;
    return topupStep(step, { fault: refuse('BAD_REQUEST', said), typed });
  }
  // Each checkout asks the processor, so a visitor gets only so many. Counted by address: a gift needs no wallet of one's own.
  const fault = await attempts.take([{ kind: 'checkout-from', of: services.addressOf(request.exchange.request) }]);
  if (fault !== undefined) return topupStep(step, { fault, typed });
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
    // The cookie names its checkout, so that a second payment in the same browser does not take the way of the first.
    const next = `${checkoutId}:${step.next}`;
    const isKept = step.next !== undefined && next.length <= NEXT_LENGTH_MAX;
    return redirectTo(url, isKept ? [cookies.write('next', next)] : []);
  } catch (away) {
    // The one fault that people can wait out. Anything else is a bug, and gets the page of faults.
    if (!(away instanceof ProcessorAway)) throw away;
    return topupStep(step, { fault: refuse('INTERNAL_SERVER_ERROR', TEXTS.away), typed });
  }
}

/** The currency of the payment. For somebody else's wallet it tells no more than the amounts on the page do anyway. */
async function currencyOf({ services, link, connection }: OpenedLink): Promise<string> {
  const found = connection ?? (await services.connections.find(link.appId, link.userId));
  return found?.wallet.currency ?? services.currency;
}

/** What the owner can spend now. A blocked wallet can spend none of its balance, so it shows no figure. */
function ownerLines(formats: Formats, appName: string, connection: Connection): Html {
  const { wallet } = connection;
  const spendable = formats.amount(spendableOf(connection), wallet.currency);
  const balance = wallet.isSuspended ? undefined : definitionList([[TEXTS.available, spendable]]);
  return html`${balance}<p>${TEXTS.explain(appName)}</p>`;
}

interface FieldsOf {
  readonly currency: string;
  readonly step: TopupStep;
  readonly shown: Shown;
  readonly stop: SpendingStop | undefined;
}

/** The choices, the field for another amount, and the bounds in the currency of the wallet. */
function amountFields(formats: Formats, payable: PayableAmounts, { currency, step, shown, stop }: FieldsOf): Html {
  const { amount } = formats;
  const { link, connection } = step.opened;
  const offered = offeredAmounts(payable);
  const hold = link.purpose === 'connect' ? undefined : link.least;
  // For the owner of a wallet that can spend only: the amount would tell others what is in it, and no amount lifts a block.
  const isUseful = connection?.wallet.isSuspended === false;
  const needed = isUseful ? leastPayment(hold, connection.wallet.available, payable) : undefined;
  const isTyped = shown.typed !== undefined && shown.typed.trim() !== '';
  const { choices, least, chosen } = choicesOf(offered, needed);
  const choiceOf = (value: Micros) => ({ value: String(value), isChosen: !isTyped && value === chosen });
  const all = [
    ...choices.map((choice) => ({ ...choiceOf(choice), text: amount(choice, currency) })),
    ...(least === undefined ? [] : [{ ...choiceOf(least), id: 'least', text: TEXTS.least(amount(least, currency)) }]),
    { value: OTHER_AMOUNT, text: TEXTS.other, isChosen: isTyped },
  ];
  const typedField = html`${amountField({ name: 'other', label: TEXTS.otherIn(currency), text: shown.typed ?? '' })}
<p class="soft">${TEXTS.range(amount(offered.least, currency), amount(offered.most, currency))}</p>`;
  return html`${choiceField({ name: 'amount', legend: TEXTS.amount, choices: all })}
${otherField(typedField)}
${stop && stopField(formats, stop)}
${button(TEXTS.goOn)}`;
}

/** What is wrong with the amounts of the form, in words. */
function faultOf(
  fault: 'none' | 'two' | 'unusable',
  formats: Formats,
  currency: string,
  payable: PayableAmounts,
): string {
  if (fault === 'none') return TEXTS.chooseOne;
  if (fault === 'two') return TEXTS.chooseOnlyOne;
  const { least, most } = offeredAmounts(payable);
  const [from, to, unit] = [least, most, payable.unit].map((one) => formats.amount(one, currency));
  return TEXTS.notAnAmount(from ?? '', to ?? '', unit ?? '');
}
