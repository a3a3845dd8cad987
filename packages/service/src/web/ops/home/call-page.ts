import { foundCallOf, type KnownCall, knownCalls } from '#http/planes/find-calls.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseCallId, parseCorrelationId } from '#kernel/values/ids.ts';
import { microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import type { CallBooks } from '#operator/look-up/call-books.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { wireName } from '#web/format/wire-name.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { timelineOf, saidBy } from '#web/console/calls/timeline.ts';
import { CALL_TEXTS as LIFE_TEXTS, CALLS_TEXTS, OUTCOME_TEXTS } from '#web/console/calls/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showNoSuch, showOpsPage } from '#web/ops/frame/old-page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { type AppNames, appLink, entityLink } from '#web/ops/frame/links.ts';
import { CALL_TEXTS as TEXTS, FIND_TEXTS } from '#web/ops/home/texts.ts';

/** A client may give one correlation id to many calls. So many of them are shown. */
const SHOWN_MAX = 10;
const NO_BOOKS: CallBooks = { hold: undefined, entries: [] };

/**
 * Makes the page `/ops/call?id=`, which shows what became of the calls with this id, and what they did to the books. It
 * never shows what they said.
 */
export function callPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const id = asked.request.query.get('id')?.trim() ?? '';
      const callId = parseCallId(id);
      const correlationId = parseCorrelationId(id);
      const { calls: finder, callBooks } = services.operator;
      const name = callId === undefined ? correlationId && { correlationId } : { callId };
      const calls = name === undefined ? [] : await knownCalls(finder, name);
      // By a correlation id, the one call that it leads to.
      const only = callId ?? (calls.length === 1 && calls[0] ? foundCallOf(calls[0]).callId : undefined);
      const books = only === undefined ? NO_BOOKS : await callBooks(only);
      const page = { page: 'find', above: FIND_TEXTS.title, title: TEXTS.title } as const;
      if (calls.length === 0 && books.hold === undefined) {
        return showNoSuch(services, asked, { message: TEXTS.none, page: 'find', above: FIND_TEXTS.title });
      }
      const apps = calls.map((call) => foundCallOf(call).appId);
      const names = await services.operator.apps.names(books.hold === undefined ? apps : [...apps, books.hold.app_id]);
      const body = html`${calls.slice(0, SHOWN_MAX).map((call, at) => viewOf(services, { ...asked, names }, call, at))}
${books.hold === undefined ? undefined : holdOf(services, { ...asked, names }, books.hold)}
${only === undefined ? undefined : entriesOf(services, asked, books)}
<p class="soft">${TEXTS.trail}</p>`;
      return showOpsPage(services, asked, { ...page, body });
    },
  });
}

/** A request with what the apps of its calls are called. */
type AskedWithNames = OpsRequest & { readonly names: AppNames };

function viewOf(services: OpsServices, asked: AskedWithNames, call: KnownCall, at: number): Html {
  const steps = timelineOf(call, (amount) => asked.request.formats.amount(amount, services.currency));
  const life = html`<ol>${steps.map(({ name, what }) => html`<li><div><strong>${name}</strong><br>${what}</div></li>\n`)}</ol>`;
  return html`<div class="columns">
<div>
${section({ id: `life-${at}`, heading: LIFE_TEXTS.life, body: [life, saidBy(call.trace)] })}
</div>
<div>
${section({ id: `facts-${at}`, heading: LIFE_TEXTS.facts, body: [factsOf(asked, call)] })}
${receiptOf(services, asked, call, at)}
</div>
</div>`;
}

function factsOf({ role, names, request: { formats } }: AskedWithNames, call: KnownCall): Html {
  const { appId, userId, callId, correlationId, model, atMs, mode } = foundCallOf(call);
  const { trace, receipt } = call;
  const upstream = receipt?.upstream ?? trace?.failure;
  const session = trace?.session ?? receipt?.session;
  const wire = trace?.wire ?? receipt?.wire;
  const wallet =
    userId === undefined || mode === 'sandbox'
      ? undefined
      : entityLink(role, { kind: 'wallet', id: `${appId} ${userId}` }, userId);
  return definitionList([
    trace === undefined ? undefined : [CALLS_TEXTS.outcome, OUTCOME_TEXTS[trace.outcome]],
    trace?.code === undefined ? undefined : [TEXTS.code, html`<code>${trace.code}</code>`],
    trace?.param === undefined ? undefined : [LIFE_TEXTS.param, html`<code>${trace.param}</code>`],
    [TEXTS.app, appLink(role, appId, names)],
    wallet === undefined ? undefined : [TEXTS.wallet, wallet],
    wallet !== undefined || userId === undefined ? undefined : [LIFE_TEXTS.user, userId],
    [TEXTS.mode, mode],
    wire === undefined ? undefined : [LIFE_TEXTS.wire, wireName(wire)],
    session === undefined ? undefined : [LIFE_TEXTS.session, html`<code>${session}</code>`],
    [LIFE_TEXTS.ended, moment(atMs, formats)],
    trace === undefined ? undefined : [LIFE_TEXTS.took, `${trace.durationMs} ms`],
    trace?.status === undefined ? undefined : [LIFE_TEXTS.status, trace.status],
    model === undefined ? undefined : [LIFE_TEXTS.model, model],
    upstream === undefined ? undefined : [TEXTS.upstream, `${upstream.provider} ${upstream.providerModel}`],
    trace?.failure === undefined ? undefined : [TEXTS.failure, trace.failure.kind],
    trace?.failure?.status === undefined ? undefined : [TEXTS.status, trace.failure.status],
    callId === undefined ? undefined : [LIFE_TEXTS.callId, html`<code>${callId}</code>`],
    correlationId === undefined ? undefined : [LIFE_TEXTS.correlationId, html`<code>${correlationId}</code>`],
  ]);
}

function receiptOf(
  { currency }: OpsServices,
  { request: { formats } }: OpsRequest,
  { receipt }: KnownCall,
  at: number,
) {
  if (receipt === undefined) return undefined;
  const { tokens, charged, held, released, isEstimated, price, late } = receipt;
  const facts = definitionList([
    [LIFE_TEXTS.prompt, tokens.prompt],
    tokens.cached === 0 ? undefined : [LIFE_TEXTS.cached, tokens.cached],
    tokens.cacheWrite === 0 ? undefined : [LIFE_TEXTS.cacheWrite, tokens.cacheWrite],
    [LIFE_TEXTS.completion, tokens.completion],
    tokens.reasoning === 0 ? undefined : [LIFE_TEXTS.reasoning, tokens.reasoning],
    [LIFE_TEXTS.held, formats.amount(held, currency)],
    [LIFE_TEXTS.charged, formats.amount(charged, currency)],
    [LIFE_TEXTS.released, formats.amount(released, currency)],
    price === undefined ? undefined : [TEXTS.version, price.version],
    price === undefined ? undefined : [TEXTS.margin, TEXTS.marginOf(price.marginBasisPoints / 100)],
  ]);
  const estimated = isEstimated ? html`<p class="soft">${LIFE_TEXTS.estimated}</p>` : undefined;
  const told = late ? html`<p class="soft">${LIFE_TEXTS.late}</p>` : undefined;
  return section({ id: `receipt-${at}`, heading: LIFE_TEXTS.receipt, body: [facts, estimated, told] });
}

function holdOf(
  { currency }: OpsServices,
  { role, names, request: { formats } }: AskedWithNames,
  hold: NonNullable<CallBooks['hold']>,
): Html {
  const facts = definitionList([
    [TEXTS.wallet, entityLink(role, { kind: 'wallet', id: `${hold.app_id} ${hold.user_id}` }, hold.user_id)],
    [TEXTS.app, appLink(role, hold.app_id, names)],
    [TEXTS.amount, formats.amount(microsFromRow(hold.amount_micros), currency)],
    [TEXTS.placed, moment(hold.placed_at.getTime(), formats)],
  ]);
  return section({ id: 'hold', heading: TEXTS.hold, body: [html`<p class="soft">${TEXTS.holdWhat}</p>`, facts] });
}

function entriesOf({ currency }: OpsServices, { request: { formats } }: OpsRequest, { entries }: CallBooks): Html {
  const rows = entries.map((entry) => [
    String(entry.seq),
    entry.kind,
    entry.debit,
    entry.credit,
    formats.amount(microsSumFromRow(entry.amount_micros), currency),
    formats.amount(microsFromRow(entry.balance_after_micros), currency),
    moment(entry.at.getTime(), formats),
  ]);
  const columns = TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 4 || at === 5 }));
  const shown = table({
    caption: html`<span class="soft">${TEXTS.entriesWhat}</span>`,
    columns,
    rows,
    empty: TEXTS.noEntries,
  });
  return section({ id: 'entries', heading: TEXTS.entries, body: [shown] });
}
