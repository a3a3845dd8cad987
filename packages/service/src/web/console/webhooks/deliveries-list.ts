import { DELIVERY_STATES } from '@purser/contract/webhooks.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { EventHistory } from '#webhooks/history/history.ts';
import { badge } from '#web/components/parts.ts';
import { filterForm } from '#web/fields/filter.ts';
import { moment, table } from '#web/figures/figures.ts';
import { type AppRequest, partsPager } from '#web/console/frame/app-page.ts';
import { ERROR_TEXTS, STATE_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';

const PAGE_EVENTS = 25;

/** The latest events of the app in the state that the address names, each with its last answer. */
export async function deliveriesList(asked: AppRequest): Promise<Html | Refusal> {
  const { services, request, app, mode, to } = asked;
  const typed = request.query.get('state') ?? '';
  const state = DELIVERY_STATES.find((one) => one === typed);
  const before = request.query.get('before') ?? undefined;
  const page = await services.deliveries.history(app.appId, { before, most: PAGE_EVENTS, state });
  if (page instanceof Refusal) return page;
  const choices = DELIVERY_STATES.map((value) => ({ value, text: STATE_TEXTS[value] }));
  const list = table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 4 })),
    rows: page.events.map((event) => rowOf(asked, event)),
    empty: state === undefined ? TEXTS.noneYet : TEXTS.none,
  });
  const pages = partsPager(asked, 'webhooks', { kept: { state }, by: 'before', from: before, next: page.next }, TEXTS);
  return html`${filterForm(to('webhooks').split('?')[0] ?? '', mode, [
    {
      name: 'state',
      label: TEXTS.state,
      value: state ?? '',
      choices: [{ value: '', text: TEXTS.all }, ...choices],
    },
  ])}
<div id="latest-events"${before === undefined ? html` data-live` : undefined}>${list}${pages}</div>
<p class="soft">${TEXTS.asData} <code>GET /apps/${app.appId}/webhook/deliveries</code></p>`;
}

function rowOf({ request, to }: AppRequest, event: EventHistory): readonly (Html | string)[] {
  const last = event.attempts.at(-1);
  return [
    html`<a href="${to('delivery', { id: event.eventId })}">${moment(event.createdAtMs, request.formats)}</a>`,
    event.type,
    userOf(event) ?? '',
    stateBadge(event.state),
    String(event.attempts.length),
    last === undefined ? '' : wordsOf(last),
  ];
}

export function stateBadge(state: EventHistory['state']): Html {
  return badge(STATE_TEXTS[state], state === 'delivered' ? 'good' : 'warn');
}

/** The user that an event is about. Undefined if its body was not kept. */
export function userOf({ body }: Pick<EventHistory, 'body'>): string | undefined {
  if (body === undefined) return undefined;
  const { data } = JSON.parse(body) as { readonly data: { readonly userId: string } };
  return data.userId;
}

interface Ended {
  readonly status: number | null | undefined;
  readonly error: string | null | undefined;
  readonly durationMs: number;
}

/** How an attempt ended, in a few words. */
export function wordsOf({ status, error, durationMs }: Ended): string {
  if (typeof status === 'number') return TEXTS.status2xx(status, durationMs);
  return TEXTS.noStatus(ERROR_TEXTS[error as keyof typeof ERROR_TEXTS] ?? error ?? '', durationMs);
}

export function isTaken(status: number | null | undefined): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}
