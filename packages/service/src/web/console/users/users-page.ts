import { type Html, html } from '#kernel/text/html.ts';
import type { AppUser, AppUsers } from '#ledger/overview/app-users.ts';
import { filterForm } from '#web/fields/filter.ts';
import { badge, card, definitionList, linkLine } from '#web/components/parts.ts';
import { figures, moment, table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage, showMissing } from '#web/console/frame/app-page.ts';
import { USER_TEXTS as TEXTS, USERS_TEXTS } from '#web/console/users/texts.ts';
import { redirectTo } from '#web/frame/page.ts';
import { parseEndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { CallTrace } from '#calls/traces/traces.ts';
import { outcomeOf } from '#web/console/calls/calls-page.ts';

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
      caption: USERS_TEXTS.caption,
      columns: USERS_TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 3 })),
      rows: users.map((user) => rowOf(asked, user)),
      empty: beginsWith === '' && after === '' ? USERS_TEXTS.noneYet : USERS_TEXTS.none,
    });
    const part = { kept: { user: beginsWith }, by: 'after', from: after || undefined, next: last } as const;
    const body = html`<p class="soft">${USERS_TEXTS.what}</p>
${filterForm(to('users'), mode, [{ name: 'user', label: USERS_TEXTS.beginsWith, value: beginsWith }])}
${card(list, partsPager(asked, 'users', part, USERS_TEXTS))}`;
    return showAppPage(asked, { title: USERS_TEXTS.title, body, page: 'users' });
  },
});

function rowOf({ request: { formats }, to, amountOf }: AppRequest, user: AppUser): readonly Html[] {
  const { userId, connectedAtMs, spentThisMonth, isCapReached, lastChargedAtMs } = user;
  return [
    html`<a href="${to('user', { id: userId })}"><code>${userId}</code></a>`,
    moment(connectedAtMs, formats),
    lastChargedAtMs === undefined
      ? html`<span class="soft">${USERS_TEXTS.never}</span>`
      : moment(lastChargedAtMs, formats),
    html`${amountOf(spentThisMonth)}${isCapReached ? html`<br>${badge(USERS_TEXTS.capReached, 'warn')}` : undefined}`,
  ];
}

const SHOWN_CALLS = 10;

type UserDetails = NonNullable<Awaited<ReturnType<AppUsers['find']>>>;

/**
 * Shows at `/console/:part/user?id=` one user with a connected wallet. A user who has disconnected looks like a
 * stranger (WA-02).
 */
export const userPage = forApp({
  GET: async (asked) => {
    const { app, request, mode, to } = asked;
    if (mode === 'sandbox') return redirectTo(to('sandbox'));
    const userId = parseEndUserId(request.query.get('id') ?? '');
    const user = userId && (await asked.services.appUsers.find(app.appId, userId));
    const above = { page: 'users', above: USERS_TEXTS.title };
    if (user === undefined) return showMissing(asked, { ...above, title: TEXTS.noneTitle }, TEXTS.none);
    const of = { appId: app.appId, mode, userId: user.userId };
    const all = {
      session: undefined,
      model: undefined,
      outcome: undefined,
      code: undefined,
      fromMs: undefined,
      toMs: undefined,
    };
    const { traces } = await asked.services.traces.recent({ ...of, ...all }, undefined, SHOWN_CALLS);
    const body = html`${figuresOf(asked, user)}
${user.isCapReached ? html`<p class="soft">${TEXTS.whatReached}</p>` : undefined}
${card(factsOf(asked, user))}
${card(callsOf(asked, traces), linkLine(to('calls', { user: user.userId }), TEXTS.allCalls), linkLine(to('sessions', { user: user.userId }), TEXTS.sessions))}
<p class="soft">${TEXTS.hidden}</p>`;
    return showAppPage(asked, { ...above, title: user.userId, body });
  },
});

function figuresOf(
  { services: { currency }, request: { formats } }: AppRequest,
  { spentThisMonth, spent, cap, isCapReached }: UserDetails,
): Html {
  /** Headlines are in whole coins, the small print has the micros. */
  const exactly = (amount: Micros): Html | undefined => {
    const [coins, exact] = [formats.coins(amount, currency), formats.amount(amount, currency)];
    return coins === exact ? undefined : html`${TEXTS.exactly(exact)} `;
  };
  const capText = cap === undefined ? TEXTS.noCap : TEXTS.ofCap(formats.amount(cap, currency));
  return figures([
    {
      name: TEXTS.thisMonth,
      value: formats.coins(spentThisMonth, currency),
      note: html`${exactly(spentThisMonth)}${capText}${isCapReached ? html` ${badge(USERS_TEXTS.capReached, 'warn')}` : undefined}`,
    },
    { name: TEXTS.inAll, value: formats.coins(spent, currency), note: exactly(spent) },
  ]);
}

function factsOf({ request: { formats } }: AppRequest, { connectedAtMs, lastChargedAtMs }: UserDetails): Html {
  return definitionList([
    [TEXTS.connected, moment(connectedAtMs, formats)],
    [TEXTS.last, lastChargedAtMs === undefined ? USERS_TEXTS.never : moment(lastChargedAtMs, formats)],
  ]);
}

function callsOf({ request: { formats }, to, amountOf }: AppRequest, calls: readonly CallTrace[]): Html {
  return table({
    caption: TEXTS.calls,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 3 })),
    rows: calls.map((trace) => [
      html`<a href="${to('call', { id: trace.correlationId })}">${moment(trace.endedAtMs, formats)}</a>`,
      trace.model ?? '',
      outcomeOf(trace),
      amountOf(trace.charged),
    ]),
    empty: TEXTS.noCalls,
  });
}
