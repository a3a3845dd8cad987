import { formatsOf } from '#web/format/formats.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, noticeOf, type PageNeeds } from '#web/frame/page-shell.ts';
import { signedInCookies } from '#web/wallet-owner/sign-in-cookies.ts';
import { PASSKEY_SCRIPT, passkeyFields } from '#web/sign-in/passkey-script.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { PASSKEY_TEXTS, SIGN_IN_TEXTS } from '#web/sign-in/texts.ts';
import {
  NEXT_FIELD,
  nextField,
  PASSKEYS,
  SIGN_IN,
  SIGN_OUT,
  returnPathOf,
  toSignIn,
  withReturnPath,
} from '#web/wallet-owner/return-path.ts';
import { type PageMethods, redirectTo, refusedBy, type PageRequest } from '#web/frame/page-handlers.ts';
import type { Person } from '#identities/session.ts';
import { Refusal } from '#kernel/refusal.ts';

type WalletOwnerRequest = PageRequest<Person>;

const USE = '/wallet/passkeys/use';
const REMOVE = '/wallet/passkeys/remove';

/** How a person signs in, and out. */
export function passkeyPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return { [PASSKEYS]: ownPasskeys(services), [REMOVE]: removePasskey(services), [USE]: signInByPasskey(services) };
}

function ownPasskeys(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      if (request.signedIn === undefined) return toSignIn(PASSKEYS);
      const done = new URLSearchParams(request.exchange.query).get('done');
      const page = await securityPage(services, request, { person: request.signedIn, done });
      return { status: 200, page, needs: passkeyNeeds(services) };
    },
    POST: async (request, form) => {
      const { signedIn: person } = request;
      if (person === undefined) return toSignIn(PASSKEYS);
      const refused = await services.passkeys.add(person.identity, form.field('credential'));
      if (refused === undefined) return redirectTo(`${PASSKEYS}?done=added`);
      const page = await securityPage(services, request, { person, fault: refused.message });
      return { ...refusedBy(refused, page), needs: passkeyNeeds(services) };
    },
  };
}

function removePasskey({ passkeys }: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: () => redirectTo(PASSKEYS),
    POST: async ({ signedIn }, form) => {
      if (signedIn === undefined) return toSignIn(PASSKEYS);
      await passkeys.remove(signedIn.identity.identityId, form.field('passkey'));
      return redirectTo(`${PASSKEYS}?done=removed`);
    },
  };
}

/** Takes what the passkey signed, and goes on. */
function signInByPasskey(services: WalletOwnerServices): PageMethods<Person> {
  const { passkeys } = services;
  return {
    GET: () => redirectTo(SIGN_IN),
    POST: async (_request, form) => {
      const next = returnPathOf(form.field(NEXT_FIELD));
      const opened = await passkeys.signIn(form.field('credential'));
      if (opened instanceof Refusal) return refusedBy(opened, refusedPage(services, next, opened.message));
      return redirectTo(next, signedInCookies(services, opened));
    },
  };
}

/** Of a page that asks the browser for a passkey. */
export function passkeyNeeds({ passkeys }: WalletOwnerServices): PageNeeds {
  return passkeys.isPossible ? { script: PASSKEY_SCRIPT } : {};
}

/** On the sign-in page, for a browser that knows passkeys: hidden for any other. */
export function passkeyOffer(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  next: string,
): Html | undefined {
  if (!passkeys.isPossible) return undefined;
  const fields = passkeyFields({
    does: 'get',
    options: passkeys.optionsToSignIn(),
    button: html`<button class="quiet">${PASSKEY_TEXTS.use}</button>`,
    failed: PASSKEY_TEXTS.notUsed,
  });
  return html`<section id="passkey-offer" hidden>
<h2>${PASSKEY_TEXTS.offerTitle}</h2>
<p>${PASSKEY_TEXTS.offer}</p>
${request.form(USE, html`${nextField(next)}${fields}`)}
</section>
${PASSKEY_SCRIPT.element}`;
}

interface Shown {
  readonly person: Person;
  /** What was just done. */
  readonly done?: string | null;
  readonly fault?: string;
}

async function securityPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { person, done, fault }: Shown,
): Promise<Html> {
  const { identity } = person;
  const everywhere = html`<input type="hidden" name="everywhere" value="yes">
<button class="danger">${SIGN_IN_TEXTS.signOutEverywhere}</button>`;
  const body = html`${alertOf(fault)}
${noticeOf(done === 'added' ? PASSKEY_TEXTS.added : done === 'removed' ? PASSKEY_TEXTS.removed : undefined)}
<section>
<h2>${PASSKEY_TEXTS.title}</h2>
<p>${PASSKEY_TEXTS.what}</p>
${await passkeyList(services, request, person)}
${await additionOf(services, request, person)}
</section>
<section>
<h2>${SIGN_IN_TEXTS.sessionTitle}</h2>
<p>${SIGN_IN_TEXTS.signedInAs(identity.email)}</p>
${request.form(SIGN_OUT, html`<button class="quiet">${SIGN_IN_TEXTS.signOut}</button>`)}
<p class="soft">${SIGN_IN_TEXTS.everywhereHint}</p>
${request.form(SIGN_OUT, everywhere)}
</section>
<p><a href="/wallet">${SIGN_IN_TEXTS.toWallet}</a></p>`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.securityTitle, body, isError: fault !== undefined });
}

async function passkeyList(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  { identity }: Person,
): Promise<Html> {
  const listed = await passkeys.list(identity.identityId);
  const { moment } = formatsOf(request.exchange.request);
  if (listed.length === 0) return html`<p class="soft">${PASSKEY_TEXTS.none}</p>`;
  const items = listed.map(({ credentialId, createdAtMs, lastUsedAtMs }) => {
    const fields = html`<input type="hidden" name="passkey" value="${credentialId}">
<button class="quiet">${PASSKEY_TEXTS.remove}</button>`;
    const used = lastUsedAtMs === undefined ? PASSKEY_TEXTS.neverUsed : PASSKEY_TEXTS.lastUsed;
    return html`<li><span>${PASSKEY_TEXTS.addedAt} ${moment(createdAtMs)}<br>
<span class="soft">${used} ${lastUsedAtMs === undefined ? undefined : moment(lastUsedAtMs)}</span></span>
${request.form(REMOVE, fields)}</li>
`;
  });
  return html`<ul>${items}</ul>`;
}

async function additionOf(
  { passkeys }: WalletOwnerServices,
  request: WalletOwnerRequest,
  { identity }: Person,
): Promise<Html> {
  if (!passkeys.isPossible) return html`<p class="soft">${PASSKEY_TEXTS.noName}</p>`;
  const fields = passkeyFields({
    does: 'create',
    options: await passkeys.optionsToAdd(identity),
    button: html`<button>${PASSKEY_TEXTS.add}</button>`,
    failed: PASSKEY_TEXTS.notAdded,
  });
  return html`<div id="passkey-offer" hidden>${request.form(PASSKEYS, fields)}</div>
<p id="passkey-cannot" class="soft" hidden>${PASSKEY_TEXTS.cannot}</p>
<noscript><p class="soft">${PASSKEY_TEXTS.needsScripts}</p></noscript>
${PASSKEY_SCRIPT.element}`;
}

function refusedPage(services: WalletOwnerServices, next: string, fault: string): Html {
  const body = html`${alertOf(fault)}
<p><a href="${withReturnPath(SIGN_IN, next)}">${PASSKEY_TEXTS.back}</a></p>`;
  return walletOwnerPage(services, { title: SIGN_IN_TEXTS.title, body, isError: true });
}
