import type { Connection } from '#connections/connection.ts';
import { amountField, amountText, parseAmount } from '#web/components/amount-field.ts';
import type { Form } from '#web/frame/read-form.ts';
import { formatsOf } from '#web/format/formats.ts';
import { type Html, html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf, noticeOf } from '#web/frame/page-shell.ts';
import { type OpenedLink, type WalletOwnerRequest, signedInAs } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { offeredAmounts } from '#web/topup/topup-amounts.ts';
import { type PageResponse, refusedBy } from '#web/frame/page-handlers.ts';
import { type Micros, ZERO_MICROS } from '#kernel/micros.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { payableIn } from '#payments/amounts.ts';

/** Of the caps to choose from: one in the middle. */
const STANDARD_CHOICE = 2;
const NO_CAP = 'none';
const OTHER_CAP = 'other';
const CONFIRMED = 'yes';

/** What somebody has filled in so far, as text. */
interface Filled {
  readonly cap: string;
  readonly otherCap: string;
  readonly isOwn: boolean;
}

/** `/connect/TOKEN` or `/topup/TOKEN`: the page whose consent this is. */
interface ConsentAt {
  /** Below it, `consent` takes the form, and `done` leads back to the app that waits, where one does. */
  readonly path: string;
  /** Where somebody goes who does not want to. */
  readonly cancelPath: string | undefined;
}

/** Asks for consent where there is none in force, before a page of an owner is shown. Undefined: there is. */
export function consentStep(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  opened: OpenedLink,
  at: ConsentAt,
): PageResponse | undefined {
  if (opened.connection?.wallet.isConnected === true) return undefined;
  return consentPage(services, request, opened, at);
}

/** Which app asks, what it may do, how much of it: for this person to agree. */
export function consentPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  opened: OpenedLink,
  at: ConsentAt,
): PageResponse {
  return { status: 200, page: consentHtml(services, request, opened, at, filledFrom(services, opened)) };
}

/**
 * Takes the form of that page: connects, and gives the connection. Otherwise what to answer: the form again, with what is
 * wrong with it. `foreign`: another identity was faster.
 */
export async function acceptConsent(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  form: Form,
  opened: OpenedLink,
  at: ConsentAt,
): Promise<Connection | PageResponse | 'foreign'> {
  const filled = {
    cap: form.field('cap'),
    otherCap: form.field('other-cap'),
    isOwn: form.field('own') === CONFIRMED,
  };
  const chosen = readConsent(filled, { ...capsOf(services, opened), shown: filledFrom(services, opened).otherCap });
  if (chosen instanceof Refusal) {
    return refusedBy(chosen, consentHtml(services, request, opened, at, filled, chosen.message));
  }
  const { link, person } = opened;
  return services.connections.consent({
    identityId: person.identity.identityId,
    appId: link.appId,
    userId: link.userId,
    userLabel: userLabelOf(opened),
    cap: chosen.cap,
  });
}

/** `shown`: the amount that was in the field at first, which nobody typed. */
function readConsent(
  { cap, otherCap, isOwn }: Filled,
  { choices, shown }: Pick<Caps, 'choices'> & { readonly shown: string },
): { readonly cap: Micros | undefined } | Refusal<'BAD_REQUEST'> {
  if (!isOwn) return refuse('BAD_REQUEST', CONNECT_TEXTS.notConfirmed);
  const isTyped = otherCap.trim() !== '' && otherCap !== shown;
  if (isTyped && cap !== '' && cap !== OTHER_CAP) return refuse('BAD_REQUEST', CONNECT_TEXTS.twoCaps);
  if (cap === NO_CAP) return { cap: undefined };
  const isChoice = choices.some((one) => amountText(one) === cap);
  if (!isChoice && cap !== OTHER_CAP) return refuse('BAD_REQUEST', CONNECT_TEXTS.noChoice);
  const amount = parseAmount(isChoice ? cap : otherCap);
  if (amount === undefined) return refuse('BAD_REQUEST', AMOUNT_TEXTS.fault);
  if (amount === ZERO_MICROS) return refuse('BAD_REQUEST', CONNECT_TEXTS.tooLittle);
  return { cap: amount };
}

interface Caps {
  readonly currency: string;
  readonly choices: readonly Micros[];
}

/** The caps to choose from, as large as the top-ups are: in some currencies twenty units buy nothing. */
function capsOf(services: WalletOwnerServices, { connection }: OpenedLink): Caps {
  const currency = connection?.wallet.currency ?? services.currency;
  return { currency, choices: offeredAmounts(payableIn(currency)).choices };
}

/** What is chosen at first: the cap that there is, or one in the middle. */
function filledFrom(services: WalletOwnerServices, opened: OpenedLink): Filled {
  const { connection, capToClaim } = opened;
  const choices = capsOf(services, opened).choices.map(amountText);
  const standard = { cap: choices[STANDARD_CHOICE] ?? NO_CAP, otherCap: '', isOwn: false };
  const cap = connection === undefined ? capToClaim : connection.cap;
  if (cap === undefined) return connection === undefined ? standard : { ...standard, cap: NO_CAP };
  const text = amountText(cap);
  const isChoice = choices.includes(text);
  return isChoice ? { ...standard, cap: text } : { ...standard, cap: OTHER_CAP, otherCap: text };
}

function userLabelOf({ link, connection }: OpenedLink): string | undefined {
  return (link.purpose === 'connect' ? link.userLabel : undefined) ?? connection?.userLabel;
}

function consentHtml(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  opened: OpenedLink,
  at: ConsentAt,
  filled: Filled,
  fault?: string,
): Html {
  const { path } = at;
  const { app, person, connection } = opened;
  const isConnected = connection?.wallet.isConnected === true;
  const label = userLabelOf(opened) ?? opened.link.userId;
  const wayOut = wayOutOf(at, app.name, isConnected);
  const body = html`${alertOf(fault)}
<section>
${appMark(app)}
${connection === undefined || isConnected ? undefined : noticeOf(CONNECT_TEXTS.before)}
<p>${isConnected ? CONNECT_TEXTS.connected(app.name) : CONNECT_TEXTS.asks(app.name)}</p>
<dl>
<dt>${CONNECT_TEXTS.account}</dt>
<dd><bdi>${label}</bdi></dd>
</dl>
${opened.isOneMore ? html`<p class="alert">${CONNECT_TEXTS.oneMore(app.name)}</p>` : undefined}
${signedInAs(request, person.identity, path)}
</section>
<section aria-labelledby="may">
<h2 id="may">${CONNECT_TEXTS.mayTitle}</h2>
<ul>
${CONNECT_TEXTS.may.map((line) => html`<li>${line}</li>`)}
</ul>
<h2>${CONNECT_TEXTS.mayNotTitle}</h2>
<ul>
${CONNECT_TEXTS.mayNot.map((line) => html`<li>${line}</li>`)}
</ul>
<p class="soft">${CONNECT_TEXTS.stop}</p>
</section>
<div class="card">
${request.form(`${path}/consent`, consentFields(capsOf(services, opened), request, app.name, filled, isConnected))}
${wayOut && html`<p><a href="${wayOut.path}">${wayOut.text}</a></p>`}
</div>`;
  const title = isConnected ? CONNECT_TEXTS.againTitle(app.name) : CONNECT_TEXTS.title(app.name);
  return walletOwnerPage(services, { title, body, isError: fault !== undefined });
}

/** Who is connected already goes back as that. Undefined: no app waits for somebody to come back. */
function wayOutOf({ path, cancelPath }: ConsentAt, appName: string, isConnected: boolean) {
  if (cancelPath === undefined) return undefined;
  if (isConnected) return { path: `${path}/done`, text: CONNECT_TEXTS.backTo(appName) };
  return { path: cancelPath, text: CONNECT_TEXTS.cancel };
}

function consentFields(
  caps: Caps,
  { exchange }: WalletOwnerRequest,
  appName: string,
  filled: Filled,
  isConnected: boolean,
): Html {
  const { amount } = formatsOf(exchange.request);
  const { currency } = caps;
  const choices = [
    ...caps.choices.map((one) => ({ value: amountText(one), text: amount(one, currency) })),
    { value: NO_CAP, text: CONNECT_TEXTS.noCap },
    { value: OTHER_CAP, text: CONNECT_TEXTS.otherCap },
  ];
  return html`<fieldset class="choices" aria-describedby="cap-what">
<legend>${CONNECT_TEXTS.cap}</legend>
${choices.map(({ value, text }) => choiceOf(value, text, value === filled.cap))}
</fieldset>
<p class="hint" id="cap-what">${CONNECT_TEXTS.capHint}</p>
${amountField({ name: 'other-cap', label: CONNECT_TEXTS.otherAmount(currency), text: filled.otherCap })}
<p>${CONNECT_TEXTS.warning(appName)}</p>
<label for="own"><input id="own" name="own" type="checkbox" value="${CONFIRMED}" required${filled.isOwn ? html` checked` : undefined}>
<span>${CONNECT_TEXTS.own(appName)}</span></label>
<button>${isConnected ? CONNECT_TEXTS.save : CONNECT_TEXTS.connect}</button>`;
}

function choiceOf(value: string, text: string, isChosen: boolean): Html {
  const checked = isChosen ? html` checked` : undefined;
  return html`<label for="cap-${value}"><input id="cap-${value}" name="cap" type="radio" value="${value}"${checked}><span>${text}</span></label>`;
}
