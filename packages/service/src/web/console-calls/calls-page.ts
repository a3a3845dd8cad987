import { type Html, html } from '#kernel/html.ts';
import { parseEndUserId } from '#kernel/ids.ts';
import type { TraceOutcome } from '#traces/queries.ts';
import type { CallTrace } from '#traces/traces.ts';
import { badge } from '#web/components/badge.ts';
import { filterForm } from '#web/components/filter.ts';
import { moment } from '#web/components/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/components/table.ts';
import { type AppRequest, forApp } from '#web/console/app-page.ts';
import { showAppPage } from '#web/console/console-page.ts';
import type { CallsServices } from '#web/console-calls/calls-services.ts';
import { CALLS_TEXTS as TEXTS, OUTCOME_TEXTS } from '#web/console-calls/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';

const PAGE_CALLS = 50;

/** `/console/:part/calls`: the latest calls of the app in this mode, newest first. */
export function callsPage(services: CallsServices): PageMethods {
  return forApp(services, {
    GET: async (asked) => {
      const { request, mode, to } = asked;
      const asks = (name: string) => request.query.get(name)?.trim() ?? '';
      // One field finds a call by either of its ids.
      if (asks('id') !== '') return redirectTo(to('call', { id: asks('id') }));
      const filters = { user: asks('user'), model: asks('model'), outcome: asks('outcome') };
      const after = asks('after');
      const { traces, next } = await listed(services, asked, filters, after);
      const isNarrowed = Object.values(filters).some((value) => value !== '');
      const empty = next !== undefined ? TEXTS.goOn : isNarrowed ? TEXTS.none : TEXTS.noneYet;
      const list = table({
        caption: TEXTS.caption,
        columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 3 })),
        rows: traces.map((trace) => rowOf(services, asked, trace)),
        empty,
      });
      const pages = pager({
        newer: after === '' ? undefined : { href: to('calls', { ...filters }), text: TEXTS.newest },
        older: next === undefined ? undefined : { href: to('calls', { ...filters, after: next }), text: TEXTS.older },
      });
      const body = html`<p class="soft">${TEXTS.what}</p>
${filterForm(to('calls').split('?')[0] ?? '', mode, fieldsOf(filters))}
<div id="latest"${after === '' ? html` data-live` : undefined}>${card(list, pages)}</div>
${mode === 'live' ? html`<p class="soft">${TEXTS.sampled}</p>` : undefined}`;
      return showAppPage(services, asked, { title: TEXTS.title, body, page: 'calls' });
    },
  });
}

/** What was typed into the filters. Empty: everything. */
interface Filters {
  readonly user: string;
  readonly model: string;
  readonly outcome: string;
}

/** A page of calls. What cannot be a user is the user of no call. */
async function listed(
  { traces }: CallsServices,
  { app: { appId }, mode }: AppRequest,
  { user, model, outcome }: Filters,
  after: string,
): ReturnType<CallsServices['traces']['recent']> {
  const userId = parseEndUserId(user);
  if (user !== '' && userId === undefined) return { traces: [], next: undefined };
  const narrowed = {
    userId,
    model: model === '' ? undefined : model,
    outcome: isOutcome(outcome) ? outcome : undefined,
    code: undefined,
    fromMs: undefined,
    toMs: undefined,
  };
  return traces.recent({ appId, mode, ...narrowed }, after, PAGE_CALLS);
}

function isOutcome(text: string): text is TraceOutcome {
  return Object.hasOwn(OUTCOME_TEXTS, text);
}

function fieldsOf({ user, model, outcome }: Filters) {
  const outcomes = Object.entries(OUTCOME_TEXTS).map(([value, text]) => ({ value, text }));
  return [
    { name: 'id', label: TEXTS.find, value: '' },
    { name: 'user', label: TEXTS.user, value: user },
    { name: 'model', label: TEXTS.model, value: model },
    { name: 'outcome', label: TEXTS.outcome, value: outcome, choices: [{ value: '', text: TEXTS.all }, ...outcomes] },
  ];
}

function rowOf(services: CallsServices, asked: AppRequest, trace: CallTrace): readonly (Html | string)[] {
  const { formats } = asked.request;
  const { promptTokens, completionTokens, charged, durationMs } = trace;
  return [
    html`<a href="${asked.to('call', { id: trace.correlationId })}">${moment(trace.endedAtMs, formats)}</a>`,
    trace.userId ?? '',
    html`${trace.model ?? ''}${trace.isStream ? html`<br><span class="soft">${TEXTS.stream}</span>` : undefined}`,
    outcomeOf(trace),
    `${promptTokens} + ${completionTokens}`,
    formats.amount(charged, services.currency),
    `${durationMs} ms`,
  ];
}

/** In a word, with the code of what was refused. */
export function outcomeOf({ outcome, code }: Pick<CallTrace, 'outcome' | 'code'>): Html {
  const isGood = outcome === 'answered' || outcome === 'replayed';
  const word = badge(OUTCOME_TEXTS[outcome], isGood ? 'good' : 'warn');
  return code === undefined ? word : html`${word}<br><code>${code}</code>`;
}
