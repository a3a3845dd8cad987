import { type Html, html } from '#kernel/text/html.ts';
import { parseCallId, parseCorrelationId } from '#kernel/values/ids.ts';
import type { CallReceipt } from '#calls/usage/report.ts';
import { saidBy, timelineOf } from '#web/console/calls/timeline.ts';
import { wireName } from '#web/format/wire-name.ts';
import { moment } from '#web/figures/figures.ts';
import { card, definitionList, section } from '#web/components/parts.ts';
import { type AppRequest, forApp, showAppPage, showMissing } from '#web/console/frame/app-page.ts';
import { outcomeOf } from '#web/console/calls/calls-page.ts';
import { eachOnce, type KnownCall } from '#http/planes/find-calls.ts';
import { CALL_TEXTS as TEXTS, CALLS_TEXTS, CODE_TEXTS } from '#web/console/calls/texts.ts';

/** A client may give one correlation id to many calls. So many of them are shown. */
const SHOWN_MAX = 10;

/**
 * Shows at `/console/:part/call?id=` the calls with this correlation id or call id, each with its life and its receipt.
 */
export const callPage = forApp({
  GET: async (asked) => {
    const calls = await find(asked, asked.request.query.get('id')?.trim() ?? '');
    const above = { page: 'calls', above: CALLS_TEXTS.title };
    if (calls.length === 0) {
      const body = card(html`<p role="alert">${TEXTS.none}</p>`);
      return showMissing(asked, { ...above, title: TEXTS.noneTitle }, TEXTS.none, body);
    }
    const body = html`${calls.slice(0, SHOWN_MAX).map((call, at) => viewOf(asked, call, at))}`;
    return showAppPage(asked, { ...above, title: TEXTS.title, body });
  },
});

/** Finds only calls of this app and mode. A charged call whose trace was lost, or never written, has its receipt. */
async function find({ services, app: { appId }, mode }: AppRequest, id: string): Promise<readonly KnownCall[]> {
  const { traces, appUsage } = services;
  const callId = parseCallId(id);
  const correlationId = parseCorrelationId(id);
  if (correlationId === undefined) return [];
  const found = await traces.find(callId === undefined ? { correlationId } : { callId }, appId);
  const own = found.filter((trace) => trace.mode === mode);
  if (mode === 'sandbox') return eachOnce(own, []);
  const receipts =
    callId === undefined ? await appUsage.receipts(appId, correlationId) : [await appUsage.receipt(appId, callId)];
  return eachOnce(
    own,
    receipts.filter((one) => one !== undefined),
  );
}

function viewOf(asked: AppRequest, call: KnownCall, at: number): Html {
  const { trace, receipt } = call;
  const why = trace?.code === undefined ? undefined : CODE_TEXTS[trace.code as keyof typeof CODE_TEXTS];
  const steps = timelineOf(call, asked.amountOf);
  const life = html`<ol>${steps.map(({ name, what }) => html`<li><div><strong>${name}</strong><br>${what}</div></li>\n`)}</ol>`;
  return html`<div class="columns">
<div>
${section({ id: `life-${at}`, heading: TEXTS.life, body: [life] })}
${why === undefined ? undefined : section({ id: `why-${at}`, heading: TEXTS.why, body: [html`<p><code>${trace?.code}</code></p>`, html`<p>${why}</p>`, saidBy(trace)] })}
</div>
<div>
${section({ id: `facts-${at}`, heading: TEXTS.facts, body: [factsOf(asked, call)] })}
${receipt === undefined ? undefined : section({ id: `receipt-${at}`, heading: TEXTS.receipt, body: [receiptOf(asked, receipt)] })}
</div>
</div>`;
}

function factsOf({ request: { formats }, to }: AppRequest, { trace, receipt }: KnownCall): Html {
  const callId = trace?.callId ?? receipt?.callId;
  const correlationId = trace?.correlationId ?? receipt?.correlationId;
  const userId = trace?.userId ?? receipt?.userId;
  const model = trace?.model ?? receipt?.model;
  const session = trace?.session ?? receipt?.session;
  const wire = trace?.wire ?? receipt?.wire;
  const atMs = trace?.endedAtMs ?? receipt?.atMs;
  return definitionList([
    trace === undefined ? undefined : [CALLS_TEXTS.outcome, outcomeOf(trace)],
    atMs === undefined ? undefined : [TEXTS.ended, moment(atMs, formats)],
    trace === undefined ? undefined : [TEXTS.took, `${trace.durationMs} ms`],
    trace?.status === undefined ? undefined : [TEXTS.status, trace.status],
    trace?.param === undefined ? undefined : [TEXTS.param, html`<code>${trace.param}</code>`],
    wire === undefined ? undefined : [TEXTS.wire, wireName(wire)],
    userId === undefined ? undefined : [TEXTS.user, userId],
    session === undefined
      ? undefined
      : [TEXTS.session, html`<a href="${to('calls', { user: userId ?? '', session })}"><code>${session}</code></a>`],
    model === undefined ? undefined : [TEXTS.model, model],
    callId === undefined ? undefined : [TEXTS.callId, html`<code>${callId}</code>`],
    correlationId === undefined ? undefined : [TEXTS.correlationId, html`<code>${correlationId}</code>`],
  ]);
}

function receiptOf({ app, amountOf }: AppRequest, receipt: CallReceipt): Html {
  const { tokens, charged, released, isEstimated, late } = receipt;
  const list = definitionList([
    [TEXTS.prompt, tokens.prompt],
    unlessNone(TEXTS.cached, tokens.cached),
    unlessNone(TEXTS.cacheWrite, tokens.cacheWrite),
    [TEXTS.completion, tokens.completion],
    unlessNone(TEXTS.reasoning, tokens.reasoning),
    [TEXTS.charged, amountOf(charged)],
    [TEXTS.released, amountOf(released)],
  ]);
  const path = `GET /apps/${app.appId}/calls/${receipt.callId}`;
  return html`${list}
${isEstimated ? html`<p class="soft">${TEXTS.estimated}</p>` : undefined}
${late ? html`<p class="soft">${TEXTS.late}</p>` : undefined}
<p class="soft">${TEXTS.asData} <code>${path}</code></p>`;
}

/** A part that has no tokens is left out. */
function unlessNone(name: string, tokens: number): readonly [string, number] | undefined {
  return tokens === 0 ? undefined : [name, tokens];
}
