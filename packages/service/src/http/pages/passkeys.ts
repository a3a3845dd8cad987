import { type Html, html } from '#http/pages/html.ts';
import type { PeoplePages } from '#http/pages/people-pages.ts';
import { personPage } from '#http/pages/person-page.ts';
import { SIGN_IN_TEXTS } from '#http/pages/texts/sign-in.ts';
import { PASSKEYS, SIGN_OUT, toSignIn } from '#http/pages/then.ts';
import type { PageMethods, Visit } from '#http/pages/visit.ts';
import type { Person } from '#identities/session.ts';

/** How a person signs in, and out. */
export function passkeyPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    [PASSKEYS]: {
      GET: (visit) => {
        const { signedIn } = visit;
        if (signedIn === undefined) return toSignIn(PASSKEYS);
        return { status: 200, page: securityPage(pages, visit, signedIn) };
      },
    },
  };
}

function securityPage(pages: PeoplePages, visit: Visit<Person>, { identity }: Person): Html {
  const everywhere = html`<input type="hidden" name="everywhere" value="yes">
<button class="danger">${SIGN_IN_TEXTS.signOutEverywhere}</button>`;
  const body = html`<section>
<p>${SIGN_IN_TEXTS.signedInAs(identity.email)}</p>
${visit.form(SIGN_OUT, html`<button class="quiet">${SIGN_IN_TEXTS.signOut}</button>`)}
<p class="soft">${SIGN_IN_TEXTS.everywhereHint}</p>
${visit.form(SIGN_OUT, everywhere)}
</section>`;
  return personPage(pages, { title: SIGN_IN_TEXTS.securityTitle, body });
}
