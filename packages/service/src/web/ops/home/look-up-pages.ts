import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { FoundElsewhere } from '#http/cells/operators/find.ts';
import type { FoundEntity } from '#operator/look-up/entities.ts';
import { card, definitionList, list } from '#web/components/parts.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, code, part } from '#web/ops/frame/details.ts';
import { CALL_TEXTS, FIND_TEXTS as TEXTS } from '#web/ops/home/texts.ts';
import { foundCallOf, type KnownCall, knownCalls } from '#http/planes/find-calls.ts';
import { parseCallId, parseCorrelationId } from '#kernel/values/ids.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';
import type { CallBooks } from '#operator/look-up/call-books.ts';
import { wireName } from '#web/format/wire-name.ts';
import { saidBy, timelineOf } from '#web/console/calls/timeline.ts';
import { CALL_TEXTS as LIFE_TEXTS, CALLS_TEXTS, OUTCOME_TEXTS } from '#web/console/calls/texts.ts';

/** At most this many related entities of each found one are shown. A person may own a hundred wallets. */
const RELATED_MAX = 20;
const FOUND_MAX = 50;
const QUERY_LENGTH_MAX = 512;

/** The page `/ops/find?q=`, which shows the entity with this id or address, and what hangs on it. */
export const findPage: OpsPage = {
  GET: async (asked) => {
    const { operator } = asked;
    const query = asked.asks('q').slice(0, QUERY_LENGTH_MAX);
    const found = query === '' ? [] : await operator.find(query);
    const shown = found.slice(0, FOUND_MAX);
    const entities = shown.flatMap((one) => [one, ...one.related.slice(0, RELATED_MAX)]);
    const names = await operator.apps.names(entities.filter(({ kind }) => kind === 'app').map(({ id }) => id));
    const isMissing = query !== '' && found.length === 0;
    const elsewhere = isMissing ? await operator.findElsewhere(query) : [];
    const body = html`${isMissing ? card(html`<p role="alert">${TEXTS.none(query)}</p>${elsewherePart(elsewhere)}`) : undefined}
${shown.map((one, at) => entityOf(asked, one, at, names))}
${found.length === 0 ? html`<p class="soft">${TEXTS.what}</p>` : undefined}`;
    const refusal = isMissing ? refuse('NOT_FOUND', TEXTS.none(query)) : undefined;
    return asked.show({ title: 'Find anything', body, page: 'find', refusal, isSaid: true });
  },
};

/** Returns undefined if there are no other cells, or they all have nothing. */
function elsewherePart(cells: readonly FoundElsewhere[]): Html | undefined {
  const lines = cells.flatMap(({ cell, has }) => {
    if (has === undefined) return html`<div>${TEXTS.away(cell)}</div>`;
    return has ? html`<div>${TEXTS.elsewhere(cell)}</div>` : [];
  });
  return lines.length === 0 ? undefined : list(lines);
}

function entityOf(
  { link, appLink, moment, ...asked }: OpsRequest,
  found: FoundEntity,
  place: number,
  names: AppNames,
): Html {
  const { kind, name, state, atMs, amount, related } = found;
  const facts = definitionList([
    ['ID', link(found, kind === 'identity' ? name : undefined)],
    name === undefined ? undefined : ['Name', name],
    state === undefined ? undefined : ['State', state],
    atMs === undefined ? undefined : ['When', moment(atMs)],
    amount === undefined ? undefined : ['Amount', asked.amount(amount)],
  ]);
  const hanging = related.slice(0, RELATED_MAX).map((one) => {
    const linked = one.kind === 'app' ? appLink(one.id, names) : link(one, one.name);
    return html`<div>${TEXTS.kinds[one.kind]}: ${linked}</div>`;
  });
  const rest = related.length - hanging.length;
  return part(
    `found-${place}`,
    TEXTS.kinds[kind],
    facts,
    html`<h3>Related</h3>`,
    related.length === 0 ? html`<p class="soft">Nothing is related to it.</p>` : list(hanging),
    rest > 0 ? html`<p class="soft">and ${rest} more</p>` : undefined,
  );
}

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
    if (calls.length === 0 && hold === undefined) return asked.showNoSuch('find', CALL_TEXTS.none);
    const of = calls.map((call) => foundCallOf(call).appId);
    const names = await apps.names(hold === undefined ? of : [...of, hold.app_id]);
    const body = html`${calls.slice(0, SHOWN_MAX).map((call, at) => callOf(asked, call, at, names))}
${hold && holdOf(asked, hold, names)}
${only === undefined ? undefined : entriesOf(asked, books)}
<p class="soft">Prompts and answers are never kept.</p>`;
    return asked.show({ title: 'One call', body, below: 'find' });
  },
};

function callOf(asked: OpsRequest, call: KnownCall, at: number, names: AppNames): Html {
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
    [CALL_TEXTS.app, appLink(appId, names)],
    hasWallet ? [CALL_TEXTS.wallet, link({ kind: 'wallet', id: `${appId} ${userId}` }, userId)] : undefined,
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
  return part('hold', 'Money on hold', html`<p class="soft">${CALL_TEXTS.holdWhat}</p>`, [
    [CALL_TEXTS.wallet, link({ kind: 'wallet', id: `${app} ${user}` }, user)],
    [CALL_TEXTS.app, appLink(app, names)],
    ['Amount', amount(amount_micros)],
    ['Placed', moment(placed_at.getTime())],
  ]);
}

function entriesOf({ amount, moment }: OpsRequest, { entries }: CallBooks): Html {
  return part('entries', 'Entries in the ledger', {
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
}
