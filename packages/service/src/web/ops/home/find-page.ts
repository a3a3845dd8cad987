import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { FoundElsewhere } from '#http/cells/operators/find.ts';
import type { FoundEntity } from '#operator/look-up/entities.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { list } from '#web/components/list.ts';
import { card } from '#web/components/section.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { part } from '#web/ops/frame/details.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import { FIND_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

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
${shown.map((one, at) => viewOf(asked, one, at, names))}
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

function viewOf(
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
