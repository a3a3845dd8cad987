import type { Person } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { list } from '#web/components/list.ts';
import { moment } from '#web/figures/moment.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { redirectTo, refusedBy } from '#web/frame/responses.ts';
import { PASSKEY_PATHS, passkeyNeeds } from '#web/sign-in/passkey-offer.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/assets/passkey-script.ts';
import { PASSKEY_TEXTS, SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import type { WalletOwnerRequest } from '#web/wallet-owner/open-link.ts';
import {
  NEXT_FIELD,
  PASSKEYS,
  returnPathOf,
  SIGN_IN,
  SIGN_OUT,
  toSignIn,
  withReturnPath,
} from '#web/wallet-owner/return-path.ts';
import { signedInCookies } from '#web/wallet-owner/sign-in-cookies.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** Lists the passkeys of the person who is signed in, and takes a new one. */
export function passkeysPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      if (request.signedIn === undefined) return toSignIn(PASSKEYS);
      const done = request.query.get('done');
      const page = await securityPage(services, request, { person: request.signedIn, done });
      return { status: 200, page, needs: passkeyNeeds(services) };
    },
    POST: async (request, form) => {
      const { signedIn: person } = request;
      if (person === undefined) return toSignIn(PASSKEYS);
      // The credential is JSON that the script put into the field; the identities folder checks all of it.
      const refused = await services.passkeys.add(person.identity, form.field('credential'));
      if (refused === undefined) return redirectTo(`${PASSKEYS}?done=added`);
      const page = await securityPage(services, request, { person, fault: refused.message });
      return { ...refusedBy(refused, page), needs: passkeyNeeds(services) };
    },
  };
}

/** Removes one of the person's own passkeys. One that is not there has been removed, too. */
export function removePasskeyForm({ passkeys }: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: () => redirectTo(PASSKEYS),
    POST: async ({ signedIn }, form) => {
      if (signedIn === undefined) return toSignIn(PASSKEYS);
      await passkeys.remove(signedIn.identity.identityId, form.field('passkey'));
      return redirectTo(`${PASSKEYS}?done=removed`);
    },
  };
}

/** Takes what the passkey signed, signs in and goes on. */
export function usePasskeyForm(services: WalletOwnerServices): PageMethods<Person> {
  const { passkeys } = services;
  return {
    GET: () => redirectTo(SIGN_IN),
    POST: async (request, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const opened = await passkeys.signIn(form.field('credential'), services.addressOf(request.exchange.request));
      if (opened instanceof Refusal) return refusedBy(opened, refusedPage(services, next, opened.message));
      return redirectTo(next, signedInCookies(services, opened));
    },
  };
}

interface Shown {
  readonly person: Person;
  /** The `done` of the address: which notice to show. */
  readonly done?: string | null;
  readonly fault?: string;
}

/** The page about signing in: passkeys, and the sessions of this person. */
async function securityPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { person, done, fault }: Shown,
): Promise<Html> {
  const { identity } = person;
  const everywhere = html`${hiddenField('everywhere', 'yes')}
${button(SIGN_IN_TEXTS.signOutEverywhere, { kind: 'danger' })}`;
  const body = html`${errorSummary(fault)}
${successNotice(done === 'added' ? PASSKEY_TEXTS.added : done === 'removed' ? PASSKEY_TEXTS.removed : undefined)}
<section>
<h2>${PASSKEY_TEXTS.title}</h2>
<p>${PASSKEY_TEXTS.what}</p>
${services.otherCells && html`<p class="soft">${PASSKEY_TEXTS.onlyHere}</p>`}
${await passkeyList(services, request, person)}
${await additionOf(services, request, person)}
</section>
<section>
<h2>${SIGN_IN_TEXTS.sessionTitle}</h2>
<p>${SIGN_IN_TEXTS.signedInAs(identity.email)}</p>
${request.form(SIGN_OUT, button(SIGN_IN_TEXTS.signOut, { kind: 'quiet' }))}
<p class="soft">${SIGN_IN_TEXTS.everywhereHint}</p>
${request.form(SIGN_OUT, everywhere)}
</section>
${linkLine('/wallet', SIGN_IN_TEXTS.toWallet)}`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.securityTitle, body, isError: fault !== undefined });
}

/** The person's passkeys, each with a button to remove it. The last use helps to find one that was lost. */
async function passkeyList(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  { identity }: Person,
): Promise<Html> {
  const listed = await passkeys.list(identity.identityId);
  const { formats } = request;
  if (listed.length === 0) return html`<p class="soft">${PASSKEY_TEXTS.none}</p>`;
  const items = listed.map(({ credentialId, createdAtMs, lastUsedAtMs }) => {
    const fields = html`${hiddenField('passkey', credentialId)}
${button(PASSKEY_TEXTS.remove, { kind: 'quiet' })}`;
    const used =
      lastUsedAtMs === undefined
        ? PASSKEY_TEXTS.neverUsed
        : html`${PASSKEY_TEXTS.lastUsed} ${moment(lastUsedAtMs, formats)}`;
    return html`<span>${PASSKEY_TEXTS.addedAt} ${moment(createdAtMs, formats)}<br>
<span class="soft">${used}</span></span>
${request.form(PASSKEY_PATHS.remove, fields)}`;
  });
  return list(items);
}

/**
 * The form that adds a passkey. The options hold a new challenge, so they are made for each view of the page.
 * What the page shows depends on the browser: the script unhides the form, or the sentence that this browser knows no passkeys.
 */
async function additionOf(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  { identity }: Person,
): Promise<Html> {
  if (!passkeys.isPossible) return html`<p class="soft">${PASSKEY_TEXTS.noName}</p>`;
  const fields = passkeyFields({
    does: 'create',
    options: await passkeys.optionsToAdd(identity),
    button: button(PASSKEY_TEXTS.add),
    failed: PASSKEY_TEXTS.notAdded,
  });
  return html`<div id="passkey-offer" hidden>${request.form(PASSKEYS, fields)}</div>
<p id="passkey-cannot" class="soft" hidden>${PASSKEY_TEXTS.cannot}</p>
<noscript><p class="soft">${PASSKEY_TEXTS.needsScripts}</p></noscript>
${PASSKEY_SCRIPT.element}`;
}

/** A passkey was refused. The way back is a new sign-in page, with a new challenge. */
function refusedPage(services: WalletOwnerServices, next: string, fault: string): Html {
  const body = html`${errorSummary(fault)}
${linkLine(withReturnPath(SIGN_IN, next), PASSKEY_TEXTS.back)}`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.title, body, isError: true });
}
