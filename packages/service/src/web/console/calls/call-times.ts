import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { CALLS_TEXTS as TEXTS } from '#web/console/calls/texts.ts';

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
export function askedTimes(query: URLSearchParams): AskedTimes {
  const [from = '', to = ''] = ['from', 'to'].map((name) => query.get(name)?.trim() ?? '');
  const span = query.get('span') ?? '';
  const isSpan = from === '' && to === '' && Object.hasOwn(SPANS, span);
  return { span: isSpan ? (span as Span) : '', from, to };
}

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

/** The range of the list, `toMs` exclusive, or why it cannot be shown. */
export function timesOf({ span, from, to }: AskedTimes, nowMs: number): Times | Refusal<'BAD_REQUEST'> {
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
export function spanSwitch(current: AskedTimes, to: (span: string) => string): Html {
  const isTyped = current.from !== '' || current.to !== '';
  const links = ['', ...Object.keys(SPANS)].map((span) => {
    const isCurrent = span === current.span && !isTyped ? html` aria-current="true"` : undefined;
    return html`<a href="${to(span)}"${isCurrent}>${TEXTS.spans[span as Span | '']}</a>`;
  });
  return html`<nav class="switch wide" aria-label="${TEXTS.span}">${links}</nav>`;
}
