import { type Html, html } from '#kernel/text/html.ts';
import { parseEndUserId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { TraceOutcome } from '#calls/traces/queries.ts';
import type { CallTrace } from '#calls/traces/traces.ts';
import { filterForm } from '#web/fields/filter.ts';
import { errorSummary } from '#web/components/notices.ts';
import { badge, card } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage } from '#web/console/frame/app-page.ts';
import { CALLS_TEXTS as TEXTS, OUTCOME_TEXTS } from '#web/console/calls/texts.ts';
import { redirectTo } from '#web/frame/page.ts';
import { epochMsOf } from '#kernel/time/clock.ts';

const PAGE_CALLS = 50;
const FOLLOW_SECONDS = 3;

/** Shows at `/console/:part/calls` the latest calls of the app in this mode, newest first. */
export const callsPage = forApp({
  GET: async (asked) => {
    const { request, mode, to } = asked;
    const asks = (name: string) => request.query.get(name)?.trim() ?? '';
    // One field finds a call by either of its ids.
    if (asks('id') !== '') return redirectTo(to('call', { id: asks('id') }));
    const filters = { user: asks('user'), session: asks('session'), model: asks('model'), outcome: asks('outcome') };
    const times = askedTimes(request.query);
    const range = timesOf(times, asked.services.clock.nowMs());
    const after = asks('after');
    // An end that is set shows calls of the past, and so does an older page: nothing new comes in there.
    const isFollowed = asks('follow') === 'on' && after === '' && times.to === '';
    const found = range instanceof Refusal ? NOTHING : await listed(asked, { ...filters, ...range }, after);
    const address = { ...filters, ...times, follow: isFollowed ? 'on' : '' };
    const body = html`${errorSummary(range instanceof Refusal ? range.message : undefined)}
<p class="soft">${TEXTS.what}</p>
${spanSwitch(times, (span) => to('calls', { ...address, from: '', to: '', span }))}
${filterForm(to('calls').split('?')[0] ?? '', mode, fieldsOf(filters, times), { span: times.span, follow: address.follow })}
${after !== '' || times.to !== '' ? undefined : followLine(to('calls', { ...address, follow: isFollowed ? '' : 'on' }), isFollowed)}
<div id="latest"${isFollowed ? html` data-live="${FOLLOW_SECONDS}"` : undefined}>${listOf(asked, found, { address, after })}</div>
${mode === 'live' ? html`<p class="soft">${TEXTS.sampled}</p>` : undefined}`;
    const refusal = range instanceof Refusal ? range : undefined;
    return showAppPage(asked, { title: TEXTS.title, body, page: 'calls', refusal });
  },
});

/** Whether the list keeps itself current, and the way to change it. */
function followLine(href: string, isFollowed: boolean): Html {
  const [state, act] = isFollowed ? [TEXTS.followed(FOLLOW_SECONDS), TEXTS.stop] : [undefined, TEXTS.follow];
  return html`<p class="row">${state && html`<span class="soft">${state}</span>`}<a href="${href}">${act}</a></p>`;
}

function listOf(
  asked: AppRequest,
  { traces, next }: Found,
  { address, after }: { readonly address: Readonly<Record<string, string>>; readonly after: string },
): Html {
  const { follow, ...narrowed } = address;
  const isNarrowed = Object.values(narrowed).some((value) => value !== '');
  const list = table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 3 })),
    rows: traces.map((trace) => rowOf(asked, trace)),
    empty: next !== undefined ? TEXTS.goOn : isNarrowed ? TEXTS.none : TEXTS.noneYet,
  });
  return card(list, partsPager(asked, 'calls', { kept: narrowed, by: 'after', from: after || undefined, next }, TEXTS));
}

/** What was typed into the filters. If all are empty, everything is shown. */
interface Filters {
  readonly user: string;
  readonly session: string;
  readonly model: string;
  readonly outcome: string;
}

type Found = Awaited<ReturnType<AppRequest['services']['traces']['recent']>>;
const NOTHING: Found = { traces: [], next: undefined };

/** A page of calls. What cannot be a user is the user of no call. */
async function listed(
  { services: { traces }, app: { appId }, mode }: AppRequest,
  {
    user,
    session,
    model,
    outcome,
    ...range
  }: Filters & { readonly fromMs: number | undefined; readonly toMs: number | undefined },
  after: string,
): Promise<Found> {
  const userId = parseEndUserId(user);
  if (user !== '' && userId === undefined) return NOTHING;
  const narrowed = {
    userId,
    session: session === '' ? undefined : session,
    model: model === '' ? undefined : model,
    outcome: isOutcome(outcome) ? outcome : undefined,
    code: undefined,
    ...range,
  };
  return traces.recent({ appId, mode, ...narrowed }, after, PAGE_CALLS);
}

function isOutcome(text: string): text is TraceOutcome {
  return Object.hasOwn(OUTCOME_TEXTS, text);
}

function fieldsOf({ user, session, model, outcome }: Filters, { from, to }: AskedTimes) {
  const outcomes = Object.entries(OUTCOME_TEXTS).map(([value, text]) => ({ value, text }));
  return [
    { name: 'id', label: TEXTS.find, value: '' },
    { name: 'user', label: TEXTS.user, value: user },
    { name: 'session', label: TEXTS.session, value: session },
    { name: 'model', label: TEXTS.model, value: model },
    { name: 'outcome', label: TEXTS.outcome, value: outcome, choices: [{ value: '', text: TEXTS.all }, ...outcomes] },
    { name: 'from', label: TEXTS.from, value: from, type: 'datetime-local' as const },
    { name: 'to', label: TEXTS.to, value: to, type: 'datetime-local' as const },
  ];
}

function rowOf({ request: { formats }, to, amountOf }: AppRequest, trace: CallTrace): readonly (Html | string)[] {
  const { promptTokens, completionTokens, charged, durationMs } = trace;
  return [
    html`<a href="${to('call', { id: trace.correlationId })}">${moment(trace.endedAtMs, formats)}</a>`,
    trace.userId ?? '',
    html`${trace.model ?? ''}${trace.isStream ? html`<br><span class="soft">${TEXTS.stream}</span>` : undefined}`,
    outcomeOf(trace),
    `${promptTokens} + ${completionTokens}`,
    amountOf(charged),
    `${durationMs} ms`,
  ];
}

/** Shows the outcome in a word, with the code of what was refused. */
export function outcomeOf({ outcome, code }: Pick<CallTrace, 'outcome' | 'code'>): Html {
  const isGood = outcome === 'answered' || outcome === 'replayed';
  const word = badge(OUTCOME_TEXTS[outcome], isGood ? 'good' : 'warn');
  return code === undefined ? word : html`${word}<br><code>${code}</code>`;
}

const HOUR_MS = 3_600_000;
/** How far back the list goes, counted from now. */
const SPANS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS } as const;

type Span = keyof typeof SPANS;

/** When calls ended, as the address has it. `from` and `to` are moments as a field of the browser writes them, in UTC. */
export interface AskedTimes {
  readonly span: Span | '';
  readonly from: string;
  readonly to: string;
}

interface Times {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** Moments that are typed stand in for the span. */
function askedTimes(query: URLSearchParams): AskedTimes {
  const [from = '', to = ''] = ['from', 'to'].map((name) => query.get(name)?.trim() ?? '');
  const span = query.get('span') ?? '';
  const isSpan = from === '' && to === '' && Object.hasOwn(SPANS, span);
  return { span: isSpan ? (span as Span) : '', from, to };
}

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

/** The range of the list, `toMs` exclusive, or why it cannot be shown. */
function timesOf({ span, from, to }: AskedTimes, nowMs: number): Times | Refusal<'BAD_REQUEST'> {
  if (span !== '') return { fromMs: nowMs - SPANS[span], toMs: undefined };
  const [fromMs, toMs] = [from, to].map((text) => (text === '' ? undefined : momentOf(text)));
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return refuse('BAD_REQUEST', TEXTS.notAMoment);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) return refuse('BAD_REQUEST', TEXTS.endsFirst);
  return { fromMs, toMs };
}

/** Milliseconds since 1970 UTC, or NaN for a text that is no moment. */
function momentOf(text: string): number {
  return MINUTE.test(text) ? epochMsOf(`${text}Z`) : Number.NaN;
}

/** Links to the same list over another span. `to`: the address for a span; empty for all that is kept. */
function spanSwitch(current: AskedTimes, to: (span: string) => string): Html {
  const isTyped = current.from !== '' || current.to !== '';
  const links = ['', ...Object.keys(SPANS)].map((span) => {
    const isCurrent = span === current.span && !isTyped ? html` aria-current="true"` : undefined;
    return html`<a href="${to(span)}"${isCurrent}>${TEXTS.spans[span as Span | '']}</a>`;
  });
  return html`<nav class="switch wide" aria-label="${TEXTS.span}">${links}</nav>`;
}
