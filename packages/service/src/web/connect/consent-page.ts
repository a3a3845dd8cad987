import type { Refusal } from '#kernel/faults/refusal.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { amountField, checkboxField, OTHER, otherField, selectField } from '#web/fields/fields.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import { appMark, button, card, definitionList, linkLine, list, steps } from '#web/components/parts.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { amountText } from '#web/format/typed-amount.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { backLine, type OpenedLink, signedInAs } from '#web/wallet-owner/open-link.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** Values of the choice of a cap, besides the amounts themselves. */
export const NO_CAP = 'none';
export const OTHER_CAP = OTHER;
/** The value of the box by which somebody says that the account at the app is theirs. */
export const OWN_CONFIRMED = 'yes';

/** What the form holds, as text. */
export interface Filled {
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
export function showConsent(opened: OpenedLink, shown: Shown): PageResponse {
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
    { value: OTHER_CAP, text: CONNECT_TEXTS.otherCap },
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
export function userLabelOf({ link, connection }: OpenedLink): string | undefined {
  return (link.purpose === 'connect' ? link.userLabel : undefined) ?? connection?.userLabel;
}
