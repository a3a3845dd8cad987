import { email as emailSchema } from '@purser/contract/control.ts';
import type { AppFace } from '#accounts/app-face.ts';
import type { Link } from '#connections/link.ts';
import { appMark } from '#web/components/app-mark.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import { readLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { passkeyNeeds, passkeyOffer } from '#web/sign-in/passkeys.ts';
import { signedInCookies } from '#web/wallet-owner/sign-in-cookies.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import {
  CODE,
  NEXT_FIELD,
  nextField,
  SIGN_IN,
  SIGN_OUT,
  returnPathOf,
  withReturnPath,
} from '#web/wallet-owner/return-path.ts';
import {
  type PageResponse,
  type PageMethods,
  redirectTo,
  refusedBy,
  type PageRequest,
} from '#web/frame/page-handlers.ts';
import { emailOf } from '#identities/email.ts';
import type { Person } from '#identities/session.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

type WalletOwnerRequest = PageRequest<Person>;

const EMAIL_LENGTH_MAX = 254;

/** Where people with wallets sign in, by a code that is mailed, and out. */
export function emailCodePages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return { [SIGN_IN]: signInPage(services), [CODE]: codePage(services), [SIGN_OUT]: signOutPage(services) };
}

/** Asks for the e-mail. What it answers is the same for every e-mail, whether a wallet is there or not. */
function signInPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      const next = thenInAddress(request);
      if (request.signedIn !== undefined) return redirectTo(next);
      const page = await signInForm(services, request, { next, email: '' });
      return { status: 200, page, needs: passkeyNeeds(services) };
    },
    POST: async (request, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const email = form.field('email').trim();
      const asked = await askForCode(services, request, next, email);
      if (asked instanceof Refusal) {
        const page = await signInForm(services, request, { next, email, fault: asked.message });
        return { ...refusedBy(asked, page), needs: passkeyNeeds(services) };
      }
      return redirectTo(withReturnPath(CODE, await freshened(services, next)), [
        services.cookies.write('code', asked.challenge),
      ]);
    },
  };
}

async function askForCode(services: WalletOwnerServices, request: WalletOwnerRequest, next: string, email: string) {
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

/** Takes the code, and goes on. */
function codePage(services: WalletOwnerServices): PageMethods<Person> {
  const { codes } = services;
  const sentTo = (request: WalletOwnerRequest) => codes.emailOf(request.cookie('code') ?? '');
  return {
    GET: async (request) => {
      const next = thenInAddress(request);
      if (request.signedIn !== undefined) return redirectTo(next);
      const email = await sentTo(request);
      if (email === undefined) return redirectTo(withReturnPath(SIGN_IN, next));
      return { status: 200, page: codeForm(services, request, { next, email }) };
    },
    POST: async (request, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const opened = await codes.use({
        challenge: request.cookie('code') ?? '',
        code: form.field('code'),
        known: request.cookie('known'),
      });
      if (opened instanceof Refusal) {
        const email = await sentTo(request);
        if (email === undefined) return refusedBy(opened, voidPage(services, next));
        return refusedBy(opened, codeForm(services, request, { next, email, fault: opened.message }));
      }
      return redirectTo(await freshened(services, next), signedInCookies(services, opened));
    },
  };
}

/** `everywhere`: in every browser of this person. With where to go on, for somebody who then signs in as another. */
function signOutPage({ sessions, cookies }: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: () => redirectTo(SIGN_IN),
    POST: async ({ signedIn }, form): Promise<PageResponse> => {
      if (signedIn !== undefined) {
        await (form.field('everywhere') === 'yes' ? sessions.endAll(signedIn) : sessions.end(signedIn));
      }
      const gone = [cookies.write('person', undefined), cookies.write('code', undefined)];
      return redirectTo(withReturnPath(SIGN_IN, returnPathOf(form.field(NEXT_FIELD))), gone);
    },
  };
}

function thenInAddress({ exchange }: WalletOwnerRequest): string {
  return returnPathOf(new URLSearchParams(exchange.query).get('then'));
}

/** The link that somebody has followed here; undefined where there is none, or it is void. */
async function linkOf(services: WalletOwnerServices, next: string): Promise<Link | undefined> {
  const [, page, token = ''] = next.split('/');
  return page === 'topup' || page === 'connect' ? readLink(services, page, token) : undefined;
}

/** The app that asks. */
async function askingApp(services: WalletOwnerServices, next: string): Promise<AppFace | undefined> {
  const link = await linkOf(services, next);
  return link && (await services.apps.find(link.appId));
}

/** A link that is in force, made anew: waiting for a mail must not use up its fifteen minutes. Other paths stay as they are. */
async function freshened(services: WalletOwnerServices, next: string): Promise<string> {
  const link = await linkOf(services, next);
  return link === undefined ? next : services.links.renew(link);
}

interface FormState {
  readonly next: string;
  readonly email: string;
  readonly fault?: string;
}

async function signInForm(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { next, email, fault }: FormState,
): Promise<Html> {
  const app = await askingApp(services, next);
  const fields = html`${nextField(next)}
<label for="email">${SIGN_IN_TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="${EMAIL_LENGTH_MAX}" required value="${email}">
<button>${SIGN_IN_TEXTS.send}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
${app && appMark(app)}
<p>${app === undefined ? SIGN_IN_TEXTS.forWallet : SIGN_IN_TEXTS.forApp(app.name)}</p>
<p class="soft">${SIGN_IN_TEXTS.firstTime}</p>
${request.form(SIGN_IN, fields)}
</div>
${passkeyOffer(services, request, next)}`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.title, body, isError: fault !== undefined });
}

function codeForm(services: WalletOwnerServices, request: WalletOwnerRequest, { next, email, fault }: FormState): Html {
  const fields = html`${nextField(next)}
<label for="code">${SIGN_IN_TEXTS.code}</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required>
<button>${SIGN_IN_TEXTS.enter}</button>`;
  const again = html`${nextField(next)}
<input type="hidden" name="email" value="${email}">
<button class="quiet">${SIGN_IN_TEXTS.again}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
<p>${SIGN_IN_TEXTS.sentTo(email)}</p>
${request.form(CODE, fields)}
</div>
<section>
<p>${SIGN_IN_TEXTS.noMail}</p>
${request.form(SIGN_IN, again)}
</section>
<p><a href="${withReturnPath(SIGN_IN, next)}">${SIGN_IN_TEXTS.otherEmail}</a></p>`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.codeTitle, body, isError: fault !== undefined });
}

function voidPage(services: WalletOwnerServices, next: string): Html {
  const body = html`${alertOf(SIGN_IN_TEXTS.voidCode)}
<p><a href="${withReturnPath(SIGN_IN, next)}">${SIGN_IN_TEXTS.askAgain}</a></p>`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.voidTitle, body, isError: true });
}
