import type { Person, PersonSignIn } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { button, linkLine, list } from '#web/components/parts.ts';
import { moment } from '#web/figures/figures.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/assets/passkey-script.ts';
import { PASSKEY_TEXTS, SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import {
  NEXT_FIELD,
  nextField,
  PASSKEYS,
  returnPathOf,
  SIGN_IN,
  SIGN_OUT,
  toSignIn,
  withReturnPath,
} from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { PageNeeds } from '#web/assets/page-policy.ts';

/** Lists the passkeys of the person who is signed in, and takes a new one. */
export const passkeysPage: WalletOwnerMethods = {
  GET: async (request) => {
    if (request.signedIn === undefined) return toSignIn(PASSKEYS);
    return showSecurity(request, { person: request.signedIn, done: request.query.get('done') });
  },
  POST: async (request, form) => {
    const { signedIn: person } = request;
    if (person === undefined) return toSignIn(PASSKEYS);
    // The credential is JSON that the script put into the field; the identities folder checks all of it.
    const refused = await request.services.passkeys.add(person.identity, form.field('credential'));
    if (refused === undefined) return redirectTo(`${PASSKEYS}?done=added`);
    return showSecurity(request, { person, refusal: refused });
  },
};

/** Removes one of the person's own passkeys. One that is not there has been removed, too. */
export const removePasskeyForm: WalletOwnerMethods = {
  GET: () => redirectTo(PASSKEYS),
  POST: async ({ services, signedIn }, form) => {
    if (signedIn === undefined) return toSignIn(PASSKEYS);
    await services.passkeys.remove(signedIn.identity.identityId, form.field('passkey'));
    return redirectTo(`${PASSKEYS}?done=removed`);
  },
};

/** Takes what the passkey signed, signs in and goes on. */
export const usePasskeyForm: WalletOwnerMethods = {
  GET: () => redirectTo(SIGN_IN),
  POST: async (request, form) => {
    const next = returnPathOf(form.field(NEXT_FIELD));
    const { services } = request;
    const from = services.addressOf(request.exchange.request);
    const opened = await services.passkeys.signIn(form.field('credential'), from);
    if (opened instanceof Refusal) return showRefused(services, next, opened);
    return redirectTo(next, signedInCookies(services, opened));
  },
};

interface Shown {
  readonly person: Person;
  /** The `done` of the address: which notice to show. */
  readonly done?: string | null;
  readonly refusal?: Refusal;
}

/** The page about signing in: passkeys, and the sessions of this person. */
async function showSecurity(request: WalletOwnerRequest, { person, done, refusal }: Shown): Promise<PageResponse> {
  const { services } = request;
  const { identity } = person;
  const everywhere = html`${hiddenField('everywhere', 'yes')}
${button(SIGN_IN_TEXTS.signOutEverywhere, { kind: 'danger' })}`;
  const body = html`${errorSummary(refusal?.message)}
${successNotice(done === 'added' ? PASSKEY_TEXTS.added : done === 'removed' ? PASSKEY_TEXTS.removed : undefined)}
<section>
<h2>${PASSKEY_TEXTS.title}</h2>
<p>${PASSKEY_TEXTS.what}</p>
${services.otherCells && html`<p class="soft">${PASSKEY_TEXTS.onlyHere}</p>`}
${await passkeyList(request, person)}
${await additionOf(request, person)}
</section>
<section>
<h2>${SIGN_IN_TEXTS.sessionTitle}</h2>
<p>${SIGN_IN_TEXTS.signedInAs(identity.email)}</p>
${request.form(SIGN_OUT, button(SIGN_IN_TEXTS.signOut, { kind: 'quiet' }))}
<p class="soft">${SIGN_IN_TEXTS.everywhereHint}</p>
${request.form(SIGN_OUT, everywhere)}
</section>
${linkLine('/wallet', SIGN_IN_TEXTS.toWallet)}`;
  const page = showWalletOwnerPage(services, { title: SIGN_IN_TEXTS.securityTitle, body, refusal });
  return { ...page, needs: passkeyNeeds(services) };
}

/** The person's passkeys, each with a button to remove it. The last use helps to find one that was lost. */
async function passkeyList(request: WalletOwnerRequest, { identity }: Person): Promise<Html> {
  const { passkeys } = request.services;
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
async function additionOf(request: WalletOwnerRequest, { identity }: Person): Promise<Html> {
  const { passkeys } = request.services;
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
function showRefused(services: WalletOwnerServices, next: string, refusal: Refusal): PageResponse {
  const body = html`${errorSummary(refusal.message)}
${linkLine(withReturnPath(SIGN_IN, next), PASSKEY_TEXTS.back)}`;
  return showWalletOwnerPage(services, { title: SIGN_IN_TEXTS.title, body, refusal });
}

/** The addresses that take the forms of passkeys. */
export const PASSKEY_PATHS = { use: '/wallet/passkeys/use', remove: '/wallet/passkeys/remove' } as const;

/** What a page needs that asks the browser for a passkey: its script, if passkeys can work here at all. */
export function passkeyNeeds({ passkeys }: WalletOwnerServices): PageNeeds {
  return passkeys.isPossible ? { script: PASSKEY_SCRIPT } : {};
}

/** The offer on the sign-in page. It stays hidden until the script finds that the browser knows passkeys. */
export function passkeyOffer(request: WalletOwnerRequest, next: string): Html | undefined {
  const { passkeys } = request.services;
  if (!passkeys.isPossible) return undefined;
  const fields = passkeyFields({
    does: 'get',
    options: passkeys.optionsToSignIn(),
    button: button(PASSKEY_TEXTS.use, { kind: 'quiet' }),
    failed: PASSKEY_TEXTS.notUsed,
  });
  return html`<section id="passkey-offer" hidden>
<h2>${PASSKEY_TEXTS.offerTitle}</h2>
<p>${PASSKEY_TEXTS.offer}</p>
${request.form(PASSKEY_PATHS.use, html`${nextField(next)}${fields}`)}
</section>
${PASSKEY_SCRIPT.element}`;
}

/** The cookies of a browser that has just signed in. The code's cookie goes: a code works once. */
export function signedInCookies(
  { cookies }: Pick<WalletOwnerServices, 'cookies'>,
  { token, known }: PersonSignIn,
): readonly string[] {
  return [cookies.write('person', token), cookies.write('known', known), cookies.write('code', undefined)];
}
