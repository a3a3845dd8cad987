import type { Session, SignedIn } from '#accounts/session.ts';
import type { AccountServices } from '#web/account/account-services.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, momentOf, momentText, noticeOf, pageOf } from '#web/frame/page-shell.ts';
import { newPasswordFault, newPasswordFields } from '#web/account/new-password.ts';
import { ACCOUNT_TEXTS as TEXTS } from '#web/account/texts.ts';
import {
  type PageResponse,
  type PageMethods,
  redirectTo,
  refusedBy,
  toAccount,
  type PageRequest,
} from '#web/frame/page-handlers.ts';
import type { SessionId } from '#kernel/ids.ts';
import { Refusal } from '#kernel/refusal.ts';

/** Beyond, a page says how many there are. */
const SESSIONS_SHOWN_MAX = 20;

/** `/account`: who is signed in, and from where. */
export function accountPage(services: AccountServices): PageMethods {
  return {
    GET: async (request) => {
      if (request.signedIn === undefined) return redirectTo('/sign-in');
      const notice = TEXTS.done.get(new URLSearchParams(request.exchange.query).get('done'));
      return { status: 200, page: await showAccount(services, request, request.signedIn, { notice }) };
    },
  };
}

/** `/account/sessions`: ends one session, or all others. */
export function endSessionPage({ sessions }: AccountServices): PageMethods {
  return {
    GET: toAccount,
    POST: async ({ signedIn }, form) => {
      if (signedIn === undefined) return redirectTo('/sign-in');
      const ended = form.field('session');
      if (ended === 'others') {
        await sessions.revokeOthers(signedIn);
        return redirectTo('/account?done=others');
      }
      await sessions.revoke(signedIn.account.accountId, ended as SessionId); // One that is not there has ended, too.
      return redirectTo('/account?done=session');
    },
  };
}

/** `/account/password`: sets another password. */
export function changePasswordPage(services: AccountServices): PageMethods {
  const { accounts, cookies } = services;
  return {
    GET: toAccount,
    POST: async (request, form): Promise<PageResponse> => {
      const { signedIn } = request;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const newPassword = form.field('new-password');
      const changed =
        newPasswordFault(newPassword) ??
        (await accounts.changePassword(signedIn, { currentPassword: form.field('password'), newPassword }));
      if (changed instanceof Refusal) {
        return refusedBy(changed, await showAccount(services, request, signedIn, { fault: changed.message }));
      }
      return redirectTo('/account?done=password', [cookies.write('device', changed.device)]);
    },
  };
}

interface Said {
  readonly notice?: string | undefined;
  readonly fault?: string;
}

async function showAccount(
  { sessions, frame }: AccountServices,
  request: PageRequest,
  { account, session }: SignedIn,
  { notice, fault }: Said,
): Promise<Html> {
  const all = await sessions.list(account.accountId);
  const body = html`${alertOf(fault)}${noticeOf(notice)}
<section aria-labelledby="who">
<h2 id="who">${TEXTS.you}</h2>
<dl>
${account.name === undefined ? undefined : html`<dt>${TEXTS.name}</dt><dd>${account.name}</dd>`}
<dt>${TEXTS.email}</dt><dd>${account.email}</dd>
<dt>${TEXTS.role}</dt><dd>${TEXTS.roleOf[account.role]}</dd>
</dl>
${request.form('/sign-out', html`<button class="quiet">${TEXTS.signOut}</button>`)}
</section>
${sessionsSection(request, all, session)}
<section aria-labelledby="change">
<h2 id="change">${TEXTS.change}</h2>
${request.form('/account/password', passwordFields(account.email))}
</section>`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}

function sessionsSection(request: PageRequest, all: readonly Session[], current: Session): Html {
  const shown = [current, ...all.filter(({ sessionId }) => sessionId !== current.sessionId)].slice(
    0,
    SESSIONS_SHOWN_MAX,
  );
  const hidden = all.length - shown.length;
  return html`<section aria-labelledby="sessions">
<h2 id="sessions">${TEXTS.sessions}</h2>
<ul>
${shown.map((one, index) => sessionItem(request, one, index === 0))}
</ul>
${hidden > 0 ? html`<p class="soft">${TEXTS.older(hidden)}</p>` : undefined}
${all.length < 2 ? undefined : request.form('/account/sessions', endOthersFields())}
</section>`;
}

function sessionItem(
  request: PageRequest,
  { sessionId, createdAtMs, lastUsedAtMs }: Session,
  isCurrent: boolean,
): Html {
  const fields = html`<input type="hidden" name="session" value="${sessionId}">
<button class="quiet" aria-label="${TEXTS.endThat(momentText(createdAtMs))}">${TEXTS.end}</button>`;
  return html`<li>
<div>${isCurrent ? html`<strong>${TEXTS.thisBrowser}</strong><br>` : undefined}${TEXTS.signedIn} ${momentOf(createdAtMs)}<br>
<span class="soft">${TEXTS.lastUsed} ${momentOf(lastUsedAtMs)}</span></div>
${isCurrent ? undefined : request.form('/account/sessions', fields)}
</li>`;
}

function endOthersFields(): Html {
  return html`<input type="hidden" name="session" value="others">
<button class="quiet">${TEXTS.endOthers}</button>`;
}

/** The e-mail is there for password managers, which would otherwise ask whose password this is. */
function passwordFields(email: string): Html {
  return html`<input type="email" name="email" value="${email}" autocomplete="username" readonly hidden>
<label for="password">${TEXTS.presentPassword}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
${newPasswordFields()}
<button>${TEXTS.changeIt}</button>`;
}
