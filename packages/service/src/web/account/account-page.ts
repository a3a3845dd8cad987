import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Session, SignedIn } from '#developers/sessions/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AccountMethods, AccountRequest } from '#web/credentials/account-services.ts';
import { newPasswordFault, newPasswordField, presentPasswordField } from '#web/credentials/credential-fields.ts';
import { SECOND_FACTOR } from '#web/factors/second-factor-page.ts';
import { SSO_LINK } from '#web/credentials/sso-paths.ts';
import { ACCOUNT_TEXTS as TEXTS } from '#web/credentials/texts.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { moment } from '#web/figures/figures.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { button, buttonLink, definitionList, fold, linkLine, list, section } from '#web/components/parts.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';
import { showOwnerPage } from '#web/frame/owner-page.ts';

/** An account may have a hundred sessions. Twenty keep the page under 50 KB; it says how many more there are. */
const SESSIONS_SHOWN_MAX = 20;

/** Shows at `/account` who is signed in, and where. */
export const accountPage: AccountMethods = {
  GET: async (request) => {
    if (request.signedIn === undefined) return redirectTo('/sign-in');
    const notice = TEXTS.done.get(request.query.get('done'));
    return showAccount(request, request.signedIn, { notice });
  },
};

/** Ends one session, or all others, at `/account/sessions`. */
export const endSessionForm: AccountMethods = {
  GET: () => redirectTo('/account'),
  POST: async ({ services: { sessions }, signedIn }, form) => {
    if (signedIn === undefined) return redirectTo('/sign-in');
    const ended = form.field('session');
    if (ended === 'others') {
      await sessions.revokeOthers(signedIn);
      return redirectTo('/account?done=others');
    }
    // A session that is not there has ended already: that is what was asked for, so it is no error.
    const sessionId = parseId('session', ended);
    if (sessionId !== undefined) await sessions.revoke(signedIn.account.accountId, sessionId);
    return redirectTo('/account?done=session');
  },
};

/** Sets a new password at `/account/password`. Ends every other session, and keeps this browser known. */
export const changePasswordForm: AccountMethods = {
  GET: () => redirectTo('/account'),
  POST: async (request, form) => {
    const { services, signedIn } = request;
    if (signedIn === undefined) return redirectTo('/sign-in');
    const newPassword = form.field('new-password');
    const changed =
      newPasswordFault(newPassword) ??
      (await services.accounts.changePassword(signedIn, {
        currentPassword: form.field('password'),
        newPassword,
        from: services.addressOf(request.exchange.request),
      }));
    if (changed instanceof Refusal) return showAccount(request, signedIn, { refusal: changed });
    return redirectTo('/account?done=password', [services.cookies.write('device', changed.device)]);
  },
};

/** What the page says besides the account itself. */
interface Shown {
  readonly notice?: string | undefined;
  readonly refusal?: Refusal;
}

/** The account, its sessions, and the form for another password. One thing is next: verify, a second factor, or the apps. */
async function showAccount(
  request: AccountRequest,
  { account, session }: SignedIn,
  { notice, refusal }: Shown,
): Promise<PageResponse> {
  const { services } = request;
  const { isEmailVerified, hasSecondFactor, isSso, name, email, role } = account;
  const all = await services.sessions.list(account.accountId);
  const facts = definitionList([
    name === undefined ? undefined : [TEXTS.name, name],
    [TEXTS.email, isEmailVerified ? email : html`${email} (${TEXTS.notVerified})`],
    [TEXTS.role, TEXTS.roleOf[operatorRoleOf(account) ?? 'owner']],
  ]);
  const { sso } = services.accounts;
  const toFactor = hasSecondFactor ? TEXTS.changeFactor : TEXTS.addFactor;
  const isFactorNext = isEmailVerified && !hasSecondFactor;
  const change = request.form('/account/password', passwordFields(email));
  const body = html`${errorSummary(refusal?.message)}${successNotice(notice)}
${isEmailVerified ? undefined : verifySection(request)}
${section({
  id: 'who',
  heading: TEXTS.you,
  body: [facts, isEmailVerified && (hasSecondFactor || isSso) ? buttonLink('/console', TEXTS.toApps) : undefined],
})}
${
  isSso
    ? section({ id: 'sso', heading: TEXTS.sso, body: [html`<p>${TEXTS.ssoOn(sso?.name ?? '')}</p>`] })
    : section({
        id: 'factor',
        heading: TEXTS.secondFactor,
        body: [
          html`<p>${hasSecondFactor ? TEXTS.factorOn : TEXTS.factorOff}</p>`,
          (isFactorNext ? buttonLink : linkLine)(SECOND_FACTOR, toFactor),
        ],
      })
}
${sessionsSection(request, all, session)}
${isSso ? undefined : section({ id: 'password', heading: TEXTS.password, body: [fold(TEXTS.change, change, refusal !== undefined)] })}
${isSso || sso === undefined || role !== 'operator' ? undefined : linkSection(sso.name)}`;
  return showOwnerPage(request, { title: TEXTS.title, body, refusal, isNarrow: true });
}

/** The way to a sign-in through the provider, for operators who have a password. */
function linkSection(name: string): Html {
  return section({
    id: 'sso',
    heading: TEXTS.sso,
    body: [html`<p>${TEXTS.ssoOff(name)}</p>`, linkLine(SSO_LINK, TEXTS.ssoLink(name))],
  });
}

/** What an account cannot do before its e-mail is proven, and the way to prove it. */
function verifySection(request: PageRequest): Html {
  const again = request.form('/account/verify/send', button(TEXTS.sendAgain));
  return section({ id: 'verify', heading: TEXTS.verify, body: [html`<p>${TEXTS.verifyWhat}</p>`, again] });
}

/** The sessions, this browser's first. A stranger's session is what people look for here. */
function sessionsSection(request: PageRequest, all: readonly Session[], current: Session): Html {
  const shown = [current, ...all.filter(({ sessionId }) => sessionId !== current.sessionId)].slice(
    0,
    SESSIONS_SHOWN_MAX,
  );
  const hidden = all.length - shown.length;
  const endOthers = html`${hiddenField('session', 'others')}
${button(TEXTS.endOthers, { kind: 'quiet' })}`;
  return section({
    id: 'sessions',
    heading: TEXTS.sessions,
    body: [
      list(shown.map((one, index) => sessionItem(request, one, index === 0))),
      hidden > 0 ? html`<p class="soft">${TEXTS.older(hidden)}</p>` : undefined,
      all.length < 2 ? undefined : request.form('/account/sessions', endOthers),
    ],
  });
}

/** One session. This browser's has no button: the header signs it out. */
function sessionItem(
  request: PageRequest,
  { sessionId, createdAtMs, lastUsedAtMs }: Session,
  isCurrent: boolean,
): Html {
  const { formats } = request;
  // Every button of the list says the same, so each names its session to screen readers.
  const end = html`${hiddenField('session', sessionId)}
${button(TEXTS.end, { kind: 'quiet', label: TEXTS.endThat(formats.moment(createdAtMs)) })}`;
  return html`<div>${isCurrent ? html`<strong>${TEXTS.thisBrowser}</strong><br>` : undefined}${TEXTS.signedIn} ${moment(createdAtMs, formats)}<br>
<span class="soft">${TEXTS.lastUsed} ${moment(lastUsedAtMs, formats)}</span></div>
${isCurrent ? undefined : request.form('/account/sessions', end)}`;
}

/** The hidden e-mail is for password managers: without it they ask whose password this is. */
function passwordFields(email: string): Html {
  return html`<input type="email" name="email" value="${email}" autocomplete="username" readonly hidden>
${presentPasswordField(TEXTS.presentPassword)}
${newPasswordField()}
${button(TEXTS.changeIt)}`;
}
