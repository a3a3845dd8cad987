import type { Session, SignedIn } from '#accounts/session.ts';
import type { AccountPages } from '#web/account/account-pages.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf, momentOf, momentText, noticeOf, pageOf } from '#web/frame/layout.ts';
import { newPasswordFault, newPasswordFields } from '#web/account/new-password.ts';
import { ACCOUNT_TEXTS as TEXTS } from '#web/account/texts.ts';
import { type PageAnswer, type PageMethods, redirectTo, refusedBy, toAccount, type Visit } from '#web/frame/visit.ts';
import { parseId } from '#kernel/ids.ts';
import { Refusal } from '#kernel/refusal.ts';

/** Beyond, a page says how many there are. */
const SESSIONS_SHOWN_MAX = 20;

/** `/account`: who is signed in, and from where. */
export function accountPage(pages: AccountPages): PageMethods {
  return {
    GET: async (visit) => {
      if (visit.signedIn === undefined) return redirectTo('/sign-in');
      const notice = TEXTS.done.get(new URLSearchParams(visit.exchange.query).get('done'));
      return { status: 200, page: await showAccount(pages, visit, visit.signedIn, { notice }) };
    },
  };
}

/** `/account/sessions`: ends one session, or all others. */
export function endSessionPage({ sessions }: AccountPages): PageMethods {
  return {
    GET: toAccount,
    POST: async ({ signedIn }, form) => {
      if (signedIn === undefined) return redirectTo('/sign-in');
      const ended = form.field('session');
      if (ended === 'others') {
        await sessions.revokeOthers(signedIn);
        return redirectTo('/account?done=others');
      }
      const sessionId = parseId('session', ended);
      // A session that is not there has ended, too.
      if (sessionId !== undefined) await sessions.revoke(signedIn.account.accountId, sessionId);
      return redirectTo('/account?done=session');
    },
  };
}

/** `/account/password`: sets another password. */
export function changePasswordPage(pages: AccountPages): PageMethods {
  const { accounts, cookies } = pages;
  return {
    GET: toAccount,
    POST: async (visit, form): Promise<PageAnswer> => {
      const { signedIn } = visit;
      if (signedIn === undefined) return redirectTo('/sign-in');
      const newPassword = form.field('new-password');
      const changed =
        newPasswordFault(newPassword) ??
        (await accounts.changePassword(signedIn, { currentPassword: form.field('password'), newPassword }));
      if (changed instanceof Refusal) {
        return refusedBy(changed, await showAccount(pages, visit, signedIn, { fault: changed.message }));
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
  { sessions, frame }: AccountPages,
  visit: Visit,
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
${visit.form('/sign-out', html`<button class="quiet">${TEXTS.signOut}</button>`)}
</section>
${sessionsSection(visit, all, session)}
<section aria-labelledby="change">
<h2 id="change">${TEXTS.change}</h2>
${visit.form('/account/password', passwordFields(account.email))}
</section>`;
  return pageOf({ title: TEXTS.title, body, frame, isError: fault !== undefined });
}

function sessionsSection(visit: Visit, all: readonly Session[], current: Session): Html {
  const shown = [current, ...all.filter(({ sessionId }) => sessionId !== current.sessionId)].slice(
    0,
    SESSIONS_SHOWN_MAX,
  );
  const hidden = all.length - shown.length;
  return html`<section aria-labelledby="sessions">
<h2 id="sessions">${TEXTS.sessions}</h2>
<ul>
${shown.map((one, index) => sessionItem(visit, one, index === 0))}
</ul>
${hidden > 0 ? html`<p class="soft">${TEXTS.older(hidden)}</p>` : undefined}
${all.length < 2 ? undefined : visit.form('/account/sessions', endOthersFields())}
</section>`;
}

function sessionItem(visit: Visit, { sessionId, createdAtMs, lastUsedAtMs }: Session, isCurrent: boolean): Html {
  const fields = html`<input type="hidden" name="session" value="${sessionId}">
<button class="quiet" aria-label="${TEXTS.endThat(momentText(createdAtMs))}">${TEXTS.end}</button>`;
  return html`<li>
<div>${isCurrent ? html`<strong>${TEXTS.thisBrowser}</strong><br>` : undefined}${TEXTS.signedIn} ${momentOf(createdAtMs)}<br>
<span class="soft">${TEXTS.lastUsed} ${momentOf(lastUsedAtMs)}</span></div>
${isCurrent ? undefined : visit.form('/account/sessions', fields)}
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
