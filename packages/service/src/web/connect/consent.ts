import type { Connection } from '#connections/connection.ts';
import { beganAtMs } from '#connections/link.ts';
import { type Micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { payableIn } from '#payments/processor/amounts.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';
import { offeredAmounts } from '#web/topup/topup-amounts.ts';
import { backLine, type OpenedLink, signedInAs, voidLink } from '#web/wallet-owner/open-link.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { amountField, checkboxField, OTHER, otherField, selectField } from '#web/fields/fields.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import { appMark, button, card, definitionList, linkLine, list, steps } from '#web/components/parts.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** The third of the four amounts is chosen at first: one in the middle. */
const STANDARD_CHOICE = 2;

/** Asks for consent before a page that needs an owner, unless the wallet is connected. Undefined if it is. */
export function consentStep(opened: OpenedLink, at: ConsentAt): PageResponse | undefined {
  return opened.connection?.wallet.isConnected === true ? undefined : consentPage(opened, at);
}

/** Shows which app asks, what it may do and how much it may spend, and asks the person to agree. */
export function consentPage(opened: OpenedLink, at: ConsentAt): PageResponse {
  const caps = capsOf(opened);
  return showConsent(opened, { at, caps, filled: filledFrom(caps, opened) });
}

/**
 * Takes the form of that page and connects the wallet. Returns the connection, or the form again, with what is wrong. A link
 * that gives this person no wallet is void: it is from before the wallet's release, or the wallet has an owner, connected or not. Which it is,
 * and that there is a wallet at all, nobody is told (WA-02).
 */
export async function acceptConsent(opened: OpenedLink, form: Form, at: ConsentAt): Promise<Connection | PageResponse> {
  const filled = {
    cap: form.field('cap'),
    otherCap: form.field('other-cap'),
    isOwn: form.field('own') === OWN_CONFIRMED,
  };
  const caps = capsOf(opened);
  const chosen = readConsent(filled, caps.choices, filledFrom(caps, opened).otherCap);
  if (chosen instanceof Refusal) return showConsent(opened, { at, caps, filled, refusal: chosen });
  const { services, link, person } = opened;
  const made = await services.connections.consent({
    identityId: person.identity.identityId,
    appId: link.appId,
    userId: link.userId,
    userLabel: userLabelOf(opened),
    cap: chosen.cap,
    linkBeganAtMs: beganAtMs(link),
  });
  return made === 'outdated' || made === 'foreign' ? voidLink(services) : made;
}

/**
 * The cap that somebody chose. Refuses every form that could mean two things: a cap is money, and is never guessed.
 * `shownFirst`: the text that the field held at first. If it is still there, nobody typed it.
 */
function readConsent(
  { cap, otherCap, isOwn }: Filled,
  choices: readonly Micros[],
  shownFirst: string,
): { readonly cap: Micros | undefined } | Refusal<'BAD_REQUEST'> {
  if (!isOwn) return refuse('BAD_REQUEST', CONNECT_TEXTS.notConfirmed);
  const isTyped = otherCap.trim() !== '' && otherCap !== shownFirst;
  if (isTyped && cap !== '' && cap !== OTHER) return refuse('BAD_REQUEST', CONNECT_TEXTS.twoCaps);
  if (cap === NO_CAP) return { cap: undefined };
  const isChoice = choices.some((one) => amountText(one) === cap);
  if (!isChoice && cap !== OTHER) return refuse('BAD_REQUEST', CONNECT_TEXTS.noChoice);
  const amount = parseAmount(isChoice ? cap : otherCap);
  if (amount === undefined) return refuse('BAD_REQUEST', AMOUNT_TEXTS.fault);
  if (amount === ZERO_MICROS) return refuse('BAD_REQUEST', CONNECT_TEXTS.tooLittle);
  return { cap: amount };
}

interface Caps {
  readonly currency: string;
  readonly choices: readonly Micros[];
}

/** The caps to choose from: the amounts of the top-up page. A fixed 20 would buy nothing in some currencies. */
function capsOf({ services, connection }: OpenedLink): Caps {
  const currency = connection?.wallet.currency ?? services.currency;
  return { currency, choices: offeredAmounts(payableIn(currency)).choices };
}

/** What is chosen at first: the cap that the wallet has or that an operator set, or else the standard one. */
function filledFrom({ choices: amounts }: Caps, { connection, capToClaim }: OpenedLink): Filled {
  const choices = amounts.map(amountText);
  const standard = { cap: choices[STANDARD_CHOICE] ?? NO_CAP, otherCap: '', isOwn: false };
  const cap = connection === undefined ? capToClaim : connection.cap;
  if (cap === undefined) return connection === undefined ? standard : { ...standard, cap: NO_CAP };
  const text = amountText(cap);
  const isChoice = choices.includes(text);
  return isChoice ? { ...standard, cap: text } : { ...standard, cap: OTHER, otherCap: text };
}

/** Values of the choice of a cap, besides the amounts themselves. */
const NO_CAP = 'none';
/** The value of the box by which somebody says that the account at the app is theirs. */
const OWN_CONFIRMED = 'yes';

/** What the form holds, as text. */
interface Filled {
  readonly cap: string;
  readonly otherCap: string;
  readonly isOwn: boolean;
}

/** The page that asks for consent: `/connect/TOKEN` or `/topup/TOKEN`. */
export interface ConsentAt {
  /** The form posts to `consent` below it. An app that waits is told at `done` below it. */
  readonly path: string;
  /** The way out without connecting. Undefined if no app waits for an answer. */
  readonly cancelPath: string | undefined;
}

interface Shown {
  readonly at: ConsentAt;
  readonly caps: { readonly currency: string; readonly choices: readonly Micros[] };
  readonly filled: Filled;
  readonly refusal?: Refusal;
}

/** The step of connecting, among those of the way to a wallet with money in it. */
const STEP = 1;

/**
 * The page that asks for consent. It names the account and the person first: agreeing to pay for a stranger must be hard. All
 * that must be read before agreeing, and the button, are in sight on a phone of 360 by 740 pixels.
 */
function showConsent(opened: OpenedLink, shown: Shown): PageResponse {
  const { at, refusal } = shown;
  const { services, request, app, connection } = opened;
  const isConnected = connection?.wallet.isConnected === true;
  const fields = consentFields(opened, shown, isConnected);
  const body = html`${isConnected ? undefined : steps(LINK_TEXTS.steps, STEP)}
${errorSummary(refusal?.message)}
${card(
  ...aboutOf(opened),
  request.form(`${at.path}/consent`, fields),
  at.cancelPath === undefined
    ? backLine(app)
    : isConnected // Somebody who is connected already goes back as connected.
      ? linkLine(`${at.path}/done`, CONNECT_TEXTS.backTo(app.name))
      : request.form(at.cancelPath, button(CONNECT_TEXTS.cancel, { kind: 'quiet' })),
)}
${rightsSection()}
${signedInAs(opened, at.path)}`;
  const title = isConnected ? CONNECT_TEXTS.againTitle(app.name) : CONNECT_TEXTS.title(app.name);
  return showWalletOwnerPage(services, { title, body, refusal });
}

/** Which app asks, for which account there, and who would pay. */
function aboutOf(opened: OpenedLink): readonly (Html | undefined)[] {
  const { app, person, connection, link, isOneMore } = opened;
  const isConnected = connection?.wallet.isConnected === true;
  // `bdi`: the label is the app's text, and right-to-left letters in it must not turn the sentence around.
  const label = html`<bdi>${userLabelOf(opened) ?? link.userId}</bdi>`;
  return [
    appMark(app),
    connection === undefined || isConnected ? undefined : successNotice(CONNECT_TEXTS.before),
    isOneMore ? warningNotice(CONNECT_TEXTS.oneMore(app.name)) : undefined,
    definitionList([
      [CONNECT_TEXTS.account, label],
      [CONNECT_TEXTS.payer, person.identity.email],
    ]),
    isConnected ? html`<p>${CONNECT_TEXTS.connected(app.name)}</p>` : undefined,
  ];
}

/** What the app may do with the wallet, and what it may not. The same for every app: there is one kind of consent. */
function rightsSection(): Html {
  return html`<section aria-labelledby="may">
<h2 id="may">${CONNECT_TEXTS.mayTitle}</h2>
${list(CONNECT_TEXTS.may)}
<h2>${CONNECT_TEXTS.mayNotTitle}</h2>
${list(CONNECT_TEXTS.mayNot)}
<p class="soft">${CONNECT_TEXTS.stop}</p>
</section>`;
}

function consentFields(
  { request: { formats }, app }: OpenedLink,
  { caps: { choices, currency }, filled }: Shown,
  isConnected: boolean,
): Html {
  const all = [
    ...choices.map((one) => ({ value: amountText(one), text: formats.amount(one, currency) })),
    { value: NO_CAP, text: CONNECT_TEXTS.noCap },
    { value: OTHER, text: CONNECT_TEXTS.otherCap },
  ];
  return html`${selectField({
    name: 'cap',
    label: CONNECT_TEXTS.cap,
    hint: CONNECT_TEXTS.capHint,
    choices: all.map((choice) => ({ ...choice, isChosen: choice.value === filled.cap })),
  })}
${otherField(amountField({ name: 'other-cap', label: CONNECT_TEXTS.otherAmount(currency), text: filled.otherCap }))}
${checkboxField({
  name: 'own',
  label: CONNECT_TEXTS.own(app.name),
  value: OWN_CONFIRMED,
  isRequired: true,
  isChecked: filled.isOwn,
})}
${button(isConnected ? CONNECT_TEXTS.save : CONNECT_TEXTS.connect)}`;
}

/** What the app calls its user. The link is newer than the connection, so its label counts. */
function userLabelOf({ link, connection }: OpenedLink): string | undefined {
  return (link.purpose === 'connect' ? link.userLabel : undefined) ?? connection?.userLabel;
}
