import { email as emailSchema } from '@purser/contract/control.ts';
import type { AppProfile } from '#accounts/app-profile.ts';
import type { Link } from '#connections/link.ts';
import { appMark } from '#web/components/app-mark.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf } from '#web/frame/layout.ts';
import { readLink } from '#web/person/link-visit.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { passkeyNeeds, passkeyOffer } from '#web/sign-in/passkeys.ts';
import { signedInCookies } from '#web/person/person-cookies.ts';
import { personPage } from '#web/person/person-page.ts';
import { SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import {
  CODE,
  NEXT_FIELD,
  nextField,
  SIGN_IN,
  SIGN_OUT,
  returnPathOf,
  withReturnPath,
} from '#web/components/return-path.ts';
import { type PageAnswer, type PageMethods, redirectTo, refusedBy, type Visit } from '#web/frame/visit.ts';
import { emailOf } from '#identities/email.ts';
import type { Person } from '#identities/session.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';

type PersonVisit = Visit<Person>;

const EMAIL_LENGTH_MAX = 254;

/** Where people with wallets sign in, by a code that is mailed, and out. */
export function personSignInPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return { [SIGN_IN]: signInPage(pages), [CODE]: codePage(pages), [SIGN_OUT]: signOutPage(pages) };
}

/** Asks for the e-mail. What it answers is the same for every e-mail, whether a wallet is there or not. */
function signInPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: async (visit) => {
      const next = thenInAddress(visit);
      if (visit.signedIn !== undefined) return redirectTo(next);
      const page = await signInForm(pages, visit, { next, email: '' });
      return { status: 200, page, needs: passkeyNeeds(pages) };
    },
    POST: async (visit, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const email = form.field('email').trim();
      const asked = await askForCode(pages, visit, next, email);
      if (asked instanceof Refusal) {
        const page = await signInForm(pages, visit, { next, email, fault: asked.message });
        return { ...refusedBy(asked, page), needs: passkeyNeeds(pages) };
      }
      return redirectTo(withReturnPath(CODE, await freshened(pages, next)), [
        pages.cookies.write('code', asked.challenge),
      ]);
    },
  };
}

async function askForCode(pages: PeoplePages, visit: PersonVisit, next: string, email: string) {
  const address = emailSchema.safeParse(email).success ? emailOf(email) : undefined;
  if (address === undefined) return refuse('BAD_REQUEST', SIGN_IN_TEXTS.noEmail);
  return pages.codes.ask({
    email: address,
    from: pages.addressOf(visit.exchange.request),
    before: visit.cookie('code'),
    known: visit.cookie('known'),
    appName: (await askingApp(pages, next))?.name,
  });
}

/** Takes the code, and goes on. */
function codePage(pages: PeoplePages): PageMethods<Person> {
  const { codes } = pages;
  const sentTo = (visit: PersonVisit) => codes.emailOf(visit.cookie('code') ?? '');
  return {
    GET: async (visit) => {
      const next = thenInAddress(visit);
      if (visit.signedIn !== undefined) return redirectTo(next);
      const email = await sentTo(visit);
      if (email === undefined) return redirectTo(withReturnPath(SIGN_IN, next));
      return { status: 200, page: codeForm(pages, visit, { next, email }) };
    },
    POST: async (visit, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const opened = await codes.use({
        challenge: visit.cookie('code') ?? '',
        code: form.field('code'),
        known: visit.cookie('known'),
      });
      if (opened instanceof Refusal) {
        const email = await sentTo(visit);
        if (email === undefined) return refusedBy(opened, voidPage(pages, next));
        return refusedBy(opened, codeForm(pages, visit, { next, email, fault: opened.message }));
      }
      return redirectTo(await freshened(pages, next), signedInCookies(pages, opened));
    },
  };
}

/** `everywhere`: in every browser of this person. With where to go on, for somebody who then signs in as another. */
function signOutPage({ sessions, cookies }: PeoplePages): PageMethods<Person> {
  return {
    GET: () => redirectTo(SIGN_IN),
    POST: async ({ signedIn }, form): Promise<PageAnswer> => {
      if (signedIn !== undefined) {
        await (form.field('everywhere') === 'yes' ? sessions.endAll(signedIn) : sessions.end(signedIn));
      }
      const gone = [cookies.write('person', undefined), cookies.write('code', undefined)];
      return redirectTo(withReturnPath(SIGN_IN, returnPathOf(form.field(NEXT_FIELD))), gone);
    },
  };
}

function thenInAddress({ exchange }: PersonVisit): string {
  return returnPathOf(new URLSearchParams(exchange.query).get('then'));
}

/** The link that somebody has followed here; undefined where there is none, or it is void. */
async function linkOf(pages: PeoplePages, next: string): Promise<Link | undefined> {
  const [, page, token = ''] = next.split('/');
  return page === 'topup' || page === 'connect' ? readLink(pages, page, token) : undefined;
}

/** The app that asks. */
async function askingApp(pages: PeoplePages, next: string): Promise<AppProfile | undefined> {
  const link = await linkOf(pages, next);
  return link && (await pages.apps.find(link.appId));
}

/** A link that is in force, made anew: waiting for a mail must not use up its fifteen minutes. Other paths stay as they are. */
async function freshened(pages: PeoplePages, next: string): Promise<string> {
  const link = await linkOf(pages, next);
  return link === undefined ? next : pages.links.renew(link);
}

interface FormState {
  readonly next: string;
  readonly email: string;
  readonly fault?: string;
}

async function signInForm(pages: PeoplePages, visit: PersonVisit, { next, email, fault }: FormState): Promise<Html> {
  const app = await askingApp(pages, next);
  const fields = html`${nextField(next)}
<label for="email">${SIGN_IN_TEXTS.email}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="${EMAIL_LENGTH_MAX}" required value="${email}">
<button>${SIGN_IN_TEXTS.send}</button>`;
  const body = html`${alertOf(fault)}
<div class="card">
${app && appMark(app)}
<p>${app === undefined ? SIGN_IN_TEXTS.forWallet : SIGN_IN_TEXTS.forApp(app.name)}</p>
<p class="soft">${SIGN_IN_TEXTS.firstTime}</p>
${visit.form(SIGN_IN, fields)}
</div>
${passkeyOffer(pages, visit, next)}`;
  return personPage(pages, { title: SIGN_IN_TEXTS.title, body, isError: fault !== undefined });
}

function codeForm(pages: PeoplePages, visit: PersonVisit, { next, email, fault }: FormState): Html {
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
${visit.form(CODE, fields)}
</div>
<section>
<p>${SIGN_IN_TEXTS.noMail}</p>
${visit.form(SIGN_IN, again)}
</section>
<p><a href="${withReturnPath(SIGN_IN, next)}">${SIGN_IN_TEXTS.otherEmail}</a></p>`;
  return personPage(pages, { title: SIGN_IN_TEXTS.codeTitle, body, isError: fault !== undefined });
}

function voidPage(pages: PeoplePages, next: string): Html {
  const body = html`${alertOf(SIGN_IN_TEXTS.voidCode)}
<p><a href="${withReturnPath(SIGN_IN, next)}">${SIGN_IN_TEXTS.askAgain}</a></p>`;
  return personPage(pages, { title: SIGN_IN_TEXTS.voidTitle, body, isError: true });
}
