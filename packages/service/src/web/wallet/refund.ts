import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Refunds } from '#payments/refunds/refunds.ts';
import { amountField, checkboxField, hiddenField } from '#web/fields/fields.ts';
import { headlineAmount, moment, signedAmount } from '#web/figures/figures.ts';
import { errorSummary } from '#web/components/notices.ts';
import { appMark, button, card, linkLine, list, paragraphs, section } from '#web/components/parts.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { REFUND_TEXTS } from '#web/wallet/refund-texts.ts';
import { forWalletOwner, nothingHere, type OwnedWallet } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerMethods, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

const KEY_LENGTH = 22; // 131 bits.
const KEY = /^[0-9A-Za-z]{22}$/;
/** The value of the box. Browsers require it, and a form without it is refused all the same. */
const CONFIRMED = 'yes';

/** Makes the page `/wallet/:part/refund`, where unused money goes back to the card or account that it came from. */
export function refundPage({ refunds }: WalletOwnerServices): WalletOwnerMethods {
  return refunds === undefined ? without : withRefunds;
}

const without = forWalletOwner({ GET: ({ services }) => nothingHere(services) });
const withRefunds = forWalletOwner({
  GET: (own) => showRefund(own),
  POST: async (own, form) => {
    const { services } = own;
    const { refunds } = services;
    if (refunds === undefined) return nothingHere(services);
    const amount = parseAmount(form.field('amount'));
    const fault = formFault(form, amount);
    const typed = form.field('amount');
    if (amount === undefined || fault !== undefined) {
      return showRefund(own, { refusal: refuse('BAD_REQUEST', fault ?? AMOUNT_TEXTS.fault), typed });
    }
    // Each refund asks the processor. Tries are counted by person, so that one wallet's owner cannot use up those of others.
    const tooMany = await services.attempts.take([{ kind: 'refund', of: own.owner.identityId }]);
    if (tooMany !== undefined) return showRefund(own, { refusal: tooMany, typed });
    const { appId, userId } = own.connection;
    // The amount is checked again where it is booked: calls may have used some of it since the page was shown.
    const outcome = await refunds.refundUnused({ appId, userId, amount, key: form.field('key') });
    if (outcome === 'asked') return redirectTo(`${own.path}?done=refund`);
    if (outcome === 'repeated') return redirectTo(`${own.path}?done=refund-repeated`);
    return showRefund(own, { refusal: refuse('BAD_REQUEST', REFUND_TEXTS.refusal(outcome)), typed });
  },
});

/** What is wrong with the form. Its key was made with the page: a form that is sent twice has the same key, and asks for one refund. */
function formFault(form: Form, amount: Micros | undefined): string | undefined {
  if (!KEY.test(form.field('key'))) return REFUND_TEXTS.again;
  if (amount === 0n) return REFUND_TEXTS.zero;
  return form.field('sure') === CONFIRMED ? undefined : REFUND_TEXTS.notConfirmed;
}

/** What was typed, and why it was refused. */
interface Refused {
  readonly refusal?: Refusal;
  readonly typed?: string;
}

/** The page: the most that can be refunded, what happens to the money, the form, and refunds on their way. */
async function showRefund(own: OwnedWallet, { refusal, typed }: Refused = {}): Promise<PageResponse> {
  const { services, connection, path, app, request } = own;
  const { refunds } = services;
  if (refunds === undefined) return nothingHere(services);
  const { appId, userId, wallet } = connection;
  const { currency } = wallet;
  const most = await refunds.refundable(appId, userId);
  const form = html`${headlineAmount({ amount: most, currency }, request.formats)}
<p>${REFUND_TEXTS.most}</p>
${paragraphs(REFUND_TEXTS.what)}
${request.form(`${path}/refund`, fieldsOf(typed ?? amountText(most), currency))}`;
  const reason = wallet.isSuspended ? REFUND_TEXTS.blocked(services.operatorName) : REFUND_TEXTS.nothing;
  const body = html`${linkLine(path, REFUND_TEXTS.back)}
${errorSummary(refusal?.message)}
${card(appMark(app), most === 0n ? html`<p>${reason}</p>` : form)}
${await underWaySection(refunds, own)}`;
  return showWalletOwnerPage(services, { title: REFUND_TEXTS.title, body, refusal });
}

/** The fields, with a new key for each view of the page. */
function fieldsOf(text: string, currency: string): Html {
  return html`${hiddenField('key', randomBase62(KEY_LENGTH))}
${amountField({ name: 'amount', label: REFUND_TEXTS.amount(currency), text, isRequired: true })}
${checkboxField({ name: 'sure', label: REFUND_TEXTS.sure, value: CONFIRMED, isRequired: true })}
${button(REFUND_TEXTS.refund)}`;
}

/** The refunds that were asked for and are neither paid out nor declined yet. */
async function underWaySection(refunds: Refunds, { connection, request }: OwnedWallet): Promise<Html | undefined> {
  const { appId, userId, wallet } = connection;
  const { formats } = request;
  const underWay = await refunds.underWay(appId, userId);
  if (underWay.length === 0) return undefined;
  const items = underWay.map(
    ({ amount, askedAtMs }) => html`<span>${signedAmount({ amount, currency: wallet.currency }, 'out', formats)}</span>
<span class="soft">${moment(askedAtMs, formats)}</span>`,
  );
  return section({ id: 'under-way', heading: REFUND_TEXTS.underWay, body: [list(items)] });
}
