import { html } from '#kernel/text/html.ts';
import { parseEndUserId } from '#kernel/values/ids.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { pager } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { sessionList, SESSIONS_SHOWN_MAX } from '#web/figures/session-list.ts';
import { forApp } from '#web/console/frame/app-page.ts';
import { showAppPage } from '#web/console/frame/console-page.ts';
import type { UsersServices } from '#web/console/users/services.ts';
import { SANDBOX_TEXTS, SESSIONS_TEXTS as TEXTS, USER_TEXTS, USERS_TEXTS } from '#web/console/users/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';

/**
 * Shows at `/console/:part/sessions?user=` what sessions of coding agents have cost a user (CP-19), or a test user. A user who has
 * disconnected looks like a stranger (WA-02).
 */
export function sessionsPage(services: UsersServices): PageMethods {
  return forApp(services, {
    GET: async (asked) => {
      const { app, request, mode, to } = asked;
      const isSandbox = mode === 'sandbox';
      const above = isSandbox
        ? { page: 'sandbox', above: SANDBOX_TEXTS.title }
        : { page: 'users', above: USERS_TEXTS.title };
      const { appId } = app;
      const { users, read } = isSandbox
        ? { users: services.sandboxWallets, read: services.sandboxWallets.sessions }
        : { users: services.appUsers, read: services.usedSessions };
      const userId = parseEndUserId(request.query.get('user') ?? '');
      if (userId === undefined || (await users.find(appId, userId)) === undefined) {
        const refusal = refuse('NOT_FOUND', isSandbox ? TEXTS.noTestUser : USER_TEXTS.none);
        const body = html`${errorSummary(refusal.message)}`;
        return showAppPage(services, asked, { ...above, title: USER_TEXTS.noneTitle, body, refusal });
      }
      const before = request.query.get('before') ?? undefined;
      const { sessions, next } = await read({ appId, userId }, { before, most: SESSIONS_SHOWN_MAX });
      const list = sessionList(
        sessions,
        {
          caption: TEXTS.caption,
          currency: services.currency,
          empty: TEXTS.none,
          hrefOf: (session) => to('calls', { user: userId, session }),
        },
        request.formats,
      );
      const pages = pager({
        newer: before === undefined ? undefined : { href: to('sessions', { user: userId }), text: TEXTS.newest },
        older:
          next === undefined ? undefined : { href: to('sessions', { user: userId, before: next }), text: TEXTS.older },
      });
      const body = html`<p class="soft">${TEXTS.what}</p>
${card(list, pages)}`;
      return showAppPage(services, asked, { ...above, title: TEXTS.title(userId), body });
    },
  });
}
