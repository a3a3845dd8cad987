import type { Connection } from '#connections/connection.ts';
import { beganAtMs } from '#connections/link.ts';
import { type Micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { payableIn } from '#payments/processor/amounts.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import {
  type ConsentAt,
  type Filled,
  NO_CAP,
  OTHER_CAP,
  OWN_CONFIRMED,
  showConsent,
  userLabelOf,
} from '#web/connect/consent-page.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { amountText, parseAmount } from '#web/format/typed-amount.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { offeredAmounts } from '#web/topup/topup-amounts.ts';
import { type OpenedLink, voidLink } from '#web/wallet-owner/open-link.ts';

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
  return isChoice ? { ...standard, cap: text } : { ...standard, cap: OTHER_CAP, otherCap: text };
}
