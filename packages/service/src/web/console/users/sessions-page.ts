import { html } from '#kernel/text/html.ts';
import { parseEndUserId } from '#kernel/values/ids.ts';
import { card } from '#web/components/parts.ts';
import { sessionList, SESSIONS_SHOWN_MAX } from '#web/figures/session-list.ts';
import { forApp, partsPager, showAppPage, showMissing } from '#web/console/frame/app-page.ts';
import { SANDBOX_TEXTS, SESSIONS_TEXTS as TEXTS, USER_TEXTS, USERS_TEXTS } from '#web/console/users/texts.ts';

/**
 * Shows at `/console/:part/sessions?user=` what sessions of coding agents have cost a user (CP-19), or a test user. A user who has
 * disconnected looks like a stranger (WA-02).
 */
export const sessionsPage = forApp({
  GET: async (asked) => {
    const { app, request, mode, to } = asked;
    const isSandbox = mode === 'sandbox';
    const above = isSandbox
      ? { page: 'sandbox', above: SANDBOX_TEXTS.title }
      : { page: 'users', above: USERS_TEXTS.title };
    const { appId } = app;
    const { users, read } = isSandbox
      ? { users: asked.services.sandboxWallets, read: asked.services.sandboxWallets.sessions }
      : { users: asked.services.appUsers, read: asked.services.usedSessions };
    const userId = parseEndUserId(request.query.get('user') ?? '');
    if (userId === undefined || (await users.find(appId, userId)) === undefined) {
      const where = { ...above, title: USER_TEXTS.noneTitle };
      return showMissing(asked, where, isSandbox ? TEXTS.noTestUser : USER_TEXTS.none);
    }
    const before = request.query.get('before') ?? undefined;
    const { sessions, next } = await read({ appId, userId }, { before, most: SESSIONS_SHOWN_MAX });
    const list = sessionList(
      sessions,
      {
        caption: TEXTS.caption,
        currency: asked.services.currency,
        empty: TEXTS.none,
        hrefOf: (session) => to('calls', { user: userId, session }),
      },
      request.formats,
    );
    const part = { kept: { user: userId }, by: 'before', from: before, next } as const;
    const body = html`<p class="soft">${TEXTS.what}</p>
${card(list, partsPager(asked, 'sessions', part, TEXTS))}`;
    return showAppPage(asked, { ...above, title: TEXTS.title(userId), body });
  },
});
