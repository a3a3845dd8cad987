import { email as emailSchema } from '@purser/contract/control.ts';
import type { AppProfile } from '#developers/apps/profile.ts';
import type { Link } from '#connections/link.ts';
import { emailOf } from '#people/email.ts';
import type { Person } from '#people/session.ts';
import { html, type Html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { errorSummary, warningNotice } from '#web/components/notices.ts';
import { appMark, button, card, linkLine, steps } from '#web/components/parts.ts';
import { hiddenField, textField } from '#web/fields/fields.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { passkeyNeeds, passkeyOffer, signedInCookies } from '#web/sign-in/passkeys.ts';
import { SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import { backLine, readLink } from '#web/wallet-owner/open-link.ts';
import { CODE, NEXT_FIELD, nextField, returnPathOf, SIGN_IN, withReturnPath } from '#web/wallet-owner/return-path.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { fromCell, hostOf } from '#web/wallet-owner/other-cells.ts';

/** This has room for the eight digits and for spaces that are pasted with them. */
const CODE_TYPED_LENGTH_MAX = 20;
/** The length follows RFC 5321: it is a path of 256 octets, less its angle brackets. */
const EMAIL_LENGTH_MAX = 254;

/** Asks for the e-mail address. The answer is the same for every address, so that nobody can find out who has a wallet. */
export const signInPage: WalletOwnerMethods = {
  GET: async (request) => {
    const next = thenInAddress(request);
    if (request.signedIn !== undefined) return redirectTo(next);
    return showSignIn(request, { next, email: '' });
  },
  POST: async (request, form) => {
    const next = returnPathOf(form.field(NEXT_FIELD));
    const email = form.field('email').trim();
    const asked = await askForCode(request, next, email);
    if (asked instanceof Refusal) return showSignIn(request, { next, email, refusal: asked });
    return redirectTo(withReturnPath(CODE, await freshened(request.services, next)), [
      request.services.cookies.write('code', asked.challenge),
    ]);
  },
};

/**
 * Has a code mailed. The limits on tries are inside `ask`: by browser, e-mail and network address. The app's name goes into
 * the mail, so that a person can see who they sign in for.
 */
async function askForCode(request: WalletOwnerRequest, next: string, email: string) {
  const { services } = request;
  const address = emailSchema.safeParse(email).success ? emailOf(email) : undefined;
  if (address === undefined) return refuse('BAD_REQUEST', SIGN_IN_TEXTS.noEmail);
  return services.codes.ask({
    email: address,
    from: services.addressOf(request.exchange.request),
    before: request.cookie('code'),
    known: request.cookie('known'),
    appName: (await askingApp(services, next))?.name,
  });
}

/** Takes the code, signs in and goes on. */
export const codePage: WalletOwnerMethods = {
  GET: async (request) => {
    const next = thenInAddress(request);
    if (request.signedIn !== undefined) return redirectTo(next);
    const email = await sentTo(request);
    if (email === undefined) return redirectTo(withReturnPath(SIGN_IN, next));
    return showCode(request, { next, email });
  },
  POST: async (request, form) => {
    const next = returnPathOf(form.field(NEXT_FIELD));
    const { services } = request;
    const opened = await services.codes.use({
      challenge: request.cookie('code') ?? '',
      code: form.field('code'),
      from: services.addressOf(request.exchange.request),
    });
    if (opened instanceof Refusal) {
      // The form can be shown again only while the code may still be typed.
      const email = await sentTo(request);
      return email === undefined
        ? showVoid(services, next, opened)
        : showCode(request, { next, email, refusal: opened });
    }
    return redirectTo(await freshened(services, next), signedInCookies(services, opened));
  },
};

/** Signs out here, or with `everywhere` in every browser of this person. Keeps the return path, for somebody who signs in as another. */
export const signOutPage: WalletOwnerMethods = {
  GET: () => redirectTo(SIGN_IN),
  POST: async ({ services, signedIn }, form) => {
    const { cookies } = services;
    const gone = [cookies.write('person', undefined), cookies.write('code', undefined)];
    const goOn = withReturnPath(SIGN_IN, returnPathOf(form.field(NEXT_FIELD)));
    if (signedIn === undefined) return redirectTo(goOn, gone);
    const isDone = await endSignIn(services, signedIn, form.field('everywhere') === 'yes');
    return isDone ? redirectTo(goOn, gone) : { ...signedOutInPart(services, goOn), cookies: gone };
  },
};

/** Ends a sign-in in all cells, or with `isAll` every one of this person. False if another cell did not answer. */
async function endSignIn({ sessions, otherCells }: WalletOwnerServices, person: Person, isAll: boolean) {
  const { identity, sessionId } = person;
  const end = async () => {
    await (isAll ? sessions.endAll(person) : sessions.end(person));
    return await otherCells?.signOut(identity.email, isAll ? undefined : sessionId);
  };
  const isDone = await end();
  if (isDone === undefined) return true;
  // Once more: until all cells had ended it, a hand-over could begin it again in one that had.
  return (await end()) === true && isDone;
}

/** Another cell did not answer, so that a session may be left there. */
function signedOutInPart(services: WalletOwnerServices, goOn: string): PageResponse {
  const body = card(
    warningNotice(SIGN_IN_TEXTS.inPart),
    html`<p>${SIGN_IN_TEXTS.inPartAdvice}</p>`,
    linkLine(goOn, SIGN_IN_TEXTS.signInAgain),
  );
  return showWalletOwnerPage(services, { title: SIGN_IN_TEXTS.inPartTitle, body });
}

/** Where the code of this browser was sent. */
function sentTo({ services, cookie }: WalletOwnerRequest) {
  return services.codes.emailOf(cookie('code') ?? '');
}

/** The return path in the address, checked. */
function thenInAddress({ query }: WalletOwnerRequest): string {
  return returnPathOf(query.get('then'));
}

/** The valid link that led here, if one did. */
async function linkOf(services: WalletOwnerServices, next: string): Promise<Link | undefined> {
  const [, page, token = ''] = next.split('/');
  return page === 'topup' || page === 'connect' ? readLink(services, page, token) : undefined;
}

/** The app whose link led here. */
async function askingApp(services: WalletOwnerServices, next: string): Promise<AppProfile | undefined> {
  const link = await linkOf(services, next);
  return link && (await services.apps.find(link.appId));
}

/** Renews a valid link: waiting for the mail must not use up its fifteen minutes. Any other path stays as it is. */
async function freshened(services: WalletOwnerServices, next: string): Promise<string> {
  const link = await linkOf(services, next);
  return link === undefined ? next : services.links.renew(link);
}

/** What both forms show again: the way on, the address, and what was wrong. */
interface FormState {
  readonly next: string;
  readonly email: string;
  readonly refusal?: Refusal;
}

/** Asks for the e-mail address. A valid link that led here also names its app. */
async function showSignIn(request: WalletOwnerRequest, { next, email, refusal }: FormState): Promise<PageResponse> {
  const { services } = request;
  const app = await askingApp(services, next);
  const fields = html`${nextField(next)}
${textField({
  name: 'email',
  label: SIGN_IN_TEXTS.email,
  type: 'email',
  autocomplete: 'email',
  lengthMax: EMAIL_LENGTH_MAX,
  isRequired: true,
  value: email,
})}
${button(SIGN_IN_TEXTS.send)}`;
  const body = html`${app && steps(LINK_TEXTS.steps, 0)}
${errorSummary(refusal?.message)}
${card(
  app && appMark(app),
  html`<p>${app === undefined ? SIGN_IN_TEXTS.forWallet : SIGN_IN_TEXTS.forApp(app.name)}</p>`,
  html`<p class="soft">${SIGN_IN_TEXTS.firstTime}</p>`,
  request.form(SIGN_IN, fields),
)}
${passkeyOffer(request, next)}
${await otherSignIns(services, next)}
${app && backLine(app)}`;
  const page = showWalletOwnerPage(services, { title: SIGN_IN_TEXTS.title, body, refusal });
  return { ...page, needs: passkeyNeeds(services) };
}

/** Asks for the code. `one-time-code` lets phones fill it in from the mail; the field for digits only suits the six of them. */
function showCode(request: WalletOwnerRequest, { next, email, refusal }: FormState): PageResponse {
  const fields = html`${nextField(next)}
${textField({
  name: 'code',
  label: SIGN_IN_TEXTS.code,
  inputMode: 'numeric',
  autocomplete: 'one-time-code',
  lengthMax: CODE_TYPED_LENGTH_MAX,
  isRequired: true,
})}
${button(SIGN_IN_TEXTS.enter)}`;
  const again = html`${nextField(next)}
${hiddenField('email', email)}
${button(SIGN_IN_TEXTS.again, { kind: 'quiet' })}`;
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${SIGN_IN_TEXTS.sentTo(email)}</p>`, request.form(CODE, fields))}
<section>
<p>${SIGN_IN_TEXTS.noMail}</p>
${request.form(SIGN_IN, again)}
</section>
${linkLine(withReturnPath(SIGN_IN, next), SIGN_IN_TEXTS.otherEmail)}`;
  return showWalletOwnerPage(request.services, { title: SIGN_IN_TEXTS.codeTitle, body, refusal });
}

/** The code can no longer be typed at all, so there is no form to show again. */
function showVoid(services: WalletOwnerServices, next: string, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(SIGN_IN_TEXTS.voidCode)}
${linkLine(withReturnPath(SIGN_IN, next), SIGN_IN_TEXTS.askAgain)}`;
  return showWalletOwnerPage(services, { title: SIGN_IN_TEXTS.voidTitle, body, refusal });
}

/** Nobody reads a longer list before they type their e-mail. */
const OFFERED_MAX = 3;

/** The ways to use a sign-in of another cell. Which of them this browser has, if any, is not known here. */
async function otherSignIns({ otherCells }: WalletOwnerServices, next: string): Promise<Html | undefined> {
  const { pages = [] } = (await otherCells?.allPages()) ?? {};
  if (pages.length === 0 || pages.length > OFFERED_MAX) return undefined;
  return html`${pages.map((there) => linkLine(fromCell(there.cell, next), SIGN_IN_TEXTS.useOther(hostOf(there))))}`;
}
