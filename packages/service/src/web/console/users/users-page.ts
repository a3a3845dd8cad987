import { type Html, html } from '#kernel/text/html.ts';
import type { AppUser } from '#ledger/overview/app-users.ts';
import { filterForm } from '#web/fields/filter.ts';
import { badge, card } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage } from '#web/console/frame/app-page.ts';
import { USERS_TEXTS as TEXTS } from '#web/console/users/texts.ts';
import { redirectTo } from '#web/frame/page.ts';

const PAGE_LENGTH = 50;

/** Shows at `/console/:part/users` users with a connected wallet. Test users have a page of their own. */
export const usersPage = forApp({
  GET: async (asked) => {
    const { app, request, mode, to } = asked;
    if (mode === 'sandbox') return redirectTo(to('sandbox'));
    const beginsWith = request.query.get('user')?.trim() ?? '';
    const after = request.query.get('after') ?? '';
    const users = await asked.services.appUsers.list(app.appId, { beginsWith, after, most: PAGE_LENGTH });
    const last = users.length === PAGE_LENGTH ? users.at(-1)?.userId : undefined;
    const list = table({
      caption: TEXTS.caption,
      columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 3 })),
      rows: users.map((user) => rowOf(asked, user)),
      empty: beginsWith === '' && after === '' ? TEXTS.noneYet : TEXTS.none,
    });
    const part = { kept: { user: beginsWith }, by: 'after', from: after || undefined, next: last } as const;
    const body = html`<p class="soft">${TEXTS.what}</p>
${filterForm(to('users'), mode, [{ name: 'user', label: TEXTS.beginsWith, value: beginsWith }])}
${card(list, partsPager(asked, 'users', part, TEXTS))}`;
    return showAppPage(asked, { title: TEXTS.title, body, page: 'users' });
  },
});

function rowOf({ request: { formats }, to, amountOf }: AppRequest, user: AppUser): readonly Html[] {
  const { userId, connectedAtMs, spentThisMonth, isCapReached, lastChargedAtMs } = user;
  return [
    html`<a href="${to('user', { id: userId })}"><code>${userId}</code></a>`,
    moment(connectedAtMs, formats),
    lastChargedAtMs === undefined ? html`<span class="soft">${TEXTS.never}</span>` : moment(lastChargedAtMs, formats),
    html`${amountOf(spentThisMonth)}${isCapReached ? html`<br>${badge(TEXTS.capReached, 'warn')}` : undefined}`,
  ];
}
