import { foundCallOf, type KnownCall, knownCalls } from '#http/planes/find-calls.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseCallId, parseCorrelationId } from '#kernel/values/ids.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';
import type { CallBooks } from '#operator/look-up/call-books.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { wireName } from '#web/format/wire-name.ts';
import { saidBy, timelineOf } from '#web/console/calls/timeline.ts';
import { CALL_TEXTS as LIFE_TEXTS, CALLS_TEXTS, OUTCOME_TEXTS } from '#web/console/calls/texts.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import { CALL_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

/** A client may give one correlation id to many calls. So many of them are shown. */
const SHOWN_MAX = 10;
const NO_BOOKS: CallBooks = { hold: undefined, entries: [] };

/**
 * The page `/ops/call?id=`, which shows what became of the calls with this id, and what they did to the books. It
 * never shows what they said.
 */
export const callPage: OpsPage = {
  GET: async (asked) => {
    const id = asked.asks('id');
    const callId = parseCallId(id);
    const correlationId = parseCorrelationId(id);
    const { calls: finder, callBooks, apps } = asked.operator;
    const name = callId === undefined ? correlationId && { correlationId } : { callId };
    const calls = name === undefined ? [] : await knownCalls(finder, name);
    // By a correlation id, the one call that it leads to.
    const only = callId ?? (calls.length === 1 && calls[0] ? foundCallOf(calls[0]).callId : undefined);
    const books = only === undefined ? NO_BOOKS : await callBooks(only);
    const { hold } = books;
    if (calls.length === 0 && hold === undefined) return asked.showNoSuch('find', TEXTS.none);
    const of = calls.map((call) => foundCallOf(call).appId);
    const names = await apps.names(hold === undefined ? of : [...of, hold.app_id]);
    const body = html`${calls.slice(0, SHOWN_MAX).map((call, at) => viewOf(asked, call, at, names))}
${hold && holdOf(asked, hold, names)}
${only === undefined ? undefined : entriesOf(asked, books)}
<p class="soft">Prompts and answers are never kept.</p>`;
    return asked.show({ title: 'One call', body, below: 'find' });
  },
};

function viewOf(asked: OpsRequest, call: KnownCall, at: number, names: AppNames): Html {
  const steps = timelineOf(call, (amount) => asked.amount(amount));
  const life = html`<ol>${steps.map(({ name, what }) => html`<li><div><strong>${name}</strong><br>${what}</div></li>\n`)}</ol>`;
  return html`<div class="columns">
<div>
${part(`life-${at}`, LIFE_TEXTS.life, life, saidBy(call.trace))}
</div>
<div>
${part(`facts-${at}`, LIFE_TEXTS.facts, factsOf(asked, call, names))}
${receiptOf(asked, call, at)}
</div>
</div>`;
}

function factsOf({ link, appLink, moment }: OpsRequest, call: KnownCall, names: AppNames): Html {
  const { appId, userId, callId, correlationId, model, atMs, mode } = foundCallOf(call);
  const { trace, receipt } = call;
  const upstream = receipt?.upstream ?? trace?.failure;
  const session = trace?.session ?? receipt?.session;
  const wire = trace?.wire ?? receipt?.wire;
  const hasWallet = userId !== undefined && mode !== 'sandbox';
  return definitionList([
    trace && [CALLS_TEXTS.outcome, OUTCOME_TEXTS[trace.outcome]],
    trace?.code === undefined ? undefined : ['Code', code(trace.code)],
    trace?.param === undefined ? undefined : [LIFE_TEXTS.param, code(trace.param)],
    [TEXTS.app, appLink(appId, names)],
    hasWallet ? [TEXTS.wallet, link({ kind: 'wallet', id: `${appId} ${userId}` }, userId)] : undefined,
    hasWallet || userId === undefined ? undefined : [LIFE_TEXTS.user, userId],
    ['Mode', mode],
    wire === undefined ? undefined : [LIFE_TEXTS.wire, wireName(wire)],
    session === undefined ? undefined : [LIFE_TEXTS.session, code(session)],
    [LIFE_TEXTS.ended, moment(atMs)],
    trace && [LIFE_TEXTS.took, `${trace.durationMs} ms`],
    trace?.status === undefined ? undefined : [LIFE_TEXTS.status, trace.status],
    model === undefined ? undefined : [LIFE_TEXTS.model, model],
    upstream && ['Upstream', `${upstream.provider} ${upstream.providerModel}`],
    trace?.failure && ['How the provider failed', trace.failure.kind],
    trace?.failure?.status === undefined ? undefined : ['Status from the provider', trace.failure.status],
    callId && [LIFE_TEXTS.callId, code(callId)],
    correlationId === undefined ? undefined : [LIFE_TEXTS.correlationId, code(correlationId)],
  ]);
}

function receiptOf({ amount }: OpsRequest, { receipt }: KnownCall, at: number): Html | undefined {
  if (receipt === undefined) return undefined;
  const { tokens, charged, held, released, isEstimated, price, late } = receipt;
  const facts = definitionList([
    [LIFE_TEXTS.prompt, tokens.prompt],
    tokens.cached === 0 ? undefined : [LIFE_TEXTS.cached, tokens.cached],
    tokens.cacheWrite === 0 ? undefined : [LIFE_TEXTS.cacheWrite, tokens.cacheWrite],
    [LIFE_TEXTS.completion, tokens.completion],
    tokens.reasoning === 0 ? undefined : [LIFE_TEXTS.reasoning, tokens.reasoning],
    [LIFE_TEXTS.held, amount(held)],
    [LIFE_TEXTS.charged, amount(charged)],
    [LIFE_TEXTS.released, amount(released)],
    price && ['Price number', price.version],
    price && ['Margin', `${price.marginBasisPoints / 100} %`],
  ]);
  const estimated = isEstimated ? html`<p class="soft">${LIFE_TEXTS.estimated}</p>` : undefined;
  const told = late ? html`<p class="soft">${LIFE_TEXTS.late}</p>` : undefined;
  return part(`receipt-${at}`, LIFE_TEXTS.receipt, facts, estimated, told);
}

function holdOf(
  { link, appLink, amount, moment }: OpsRequest,
  { app_id: app, user_id: user, amount_micros, placed_at }: NonNullable<CallBooks['hold']>,
  names: AppNames,
): Html {
  const facts = definitionList([
    [TEXTS.wallet, link({ kind: 'wallet', id: `${app} ${user}` }, user)],
    [TEXTS.app, appLink(app, names)],
    ['Amount', amount(amount_micros)],
    ['Placed', moment(placed_at.getTime())],
  ]);
  return part('hold', 'Money on hold', html`<p class="soft">${TEXTS.holdWhat}</p>`, facts);
}

function entriesOf({ amount, moment }: OpsRequest, { entries }: CallBooks): Html {
  const shown = listing({
    note: 'What the call booked in the wallet',
    columns: ['Number', 'Kind', 'From', 'To', 'Amount', 'Balance after', 'When'],
    numbers: [4, 5],
    rows: entries.map((entry) => [
      String(entry.seq),
      entry.kind,
      entry.debit,
      entry.credit,
      amount(microsSumFromRow(entry.amount_micros)),
      amount(entry.balance_after_micros),
      moment(entry.at.getTime()),
    ]),
    empty: 'The call booked nothing.',
  });
  return part('entries', 'Entries in the ledger', shown);
}
