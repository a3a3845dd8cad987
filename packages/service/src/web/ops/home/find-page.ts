import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { FoundElsewhere } from '#http/cells/operators/find.ts';
import type { FoundEntity } from '#operator/look-up/entities.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { list } from '#web/components/list.ts';
import { moment } from '#web/figures/moment.ts';
import { card, section } from '#web/components/section.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { type AppNames, appLink, entityLink } from '#web/ops/frame/links.ts';
import { FIND_TEXTS as TEXTS } from '#web/ops/home/texts.ts';

/** At most this many related things of each found thing are shown. A person may own a hundred wallets. */
const RELATED_MAX = 20;
const FOUND_MAX = 50;
const QUERY_LENGTH_MAX = 512;

/** Makes the page `/ops/find?q=`, which shows the thing with this id or address, and what hangs on it. */
export function findPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const query = (asked.request.query.get('q') ?? '').trim().slice(0, QUERY_LENGTH_MAX);
      const found = query === '' ? [] : await services.operator.find(query);
      const shown = found.slice(0, FOUND_MAX);
      const things = shown.flatMap((one) => [one, ...one.related.slice(0, RELATED_MAX)]);
      const apps = things.filter(({ kind }) => kind === 'app').map(({ id }) => id);
      const names = await services.operator.apps.names(apps);
      const isMissing = query !== '' && found.length === 0;
      const elsewhere = isMissing ? await services.operator.findElsewhere(query) : [];
      const body = html`${isMissing ? card(html`<p role="alert">${TEXTS.none(query)}</p>${elsewherePart(elsewhere)}`) : undefined}
${shown.map((one, at) => viewOf(services, asked, { found: one, names, at }))}
${found.length === 0 ? html`<p class="soft">${TEXTS.what}</p>` : undefined}`;
      const refusal = isMissing ? refuse('NOT_FOUND', TEXTS.none(query)) : undefined;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'find', refusal });
    },
  });
}

/** Returns undefined if there are no other cells, or they all have nothing. */
function elsewherePart(cells: readonly FoundElsewhere[]): Html | undefined {
  const lines = cells.flatMap(({ cell, has }) => {
    if (has === undefined) return html`<div>${TEXTS.away(cell)}</div>`;
    return has ? html`<div>${TEXTS.elsewhere(cell)}</div>` : [];
  });
  return lines.length === 0 ? undefined : list(lines);
}

function viewOf(
  { currency }: OpsServices,
  { role, request: { formats } }: OpsRequest,
  { found, names, at }: { readonly found: FoundEntity; readonly names: AppNames; readonly at: number },
): Html {
  const { kind, name, state, atMs, amount, related } = found;
  const facts = definitionList([
    [TEXTS.id, entityLink(role, found, kind === 'identity' ? name : undefined)],
    name === undefined ? undefined : [TEXTS.name, name],
    state === undefined ? undefined : [TEXTS.state, state],
    atMs === undefined ? undefined : [TEXTS.at, moment(atMs, formats)],
    amount === undefined ? undefined : [TEXTS.amount, formats.amount(amount, currency)],
  ]);
  const hanging = related
    .slice(0, RELATED_MAX)
    .map(
      (one) =>
        html`<div>${TEXTS.kinds[one.kind]}: ${one.kind === 'app' ? appLink(role, one.id, names) : entityLink(role, one, one.name)}</div>`,
    );
  const more =
    related.length > RELATED_MAX ? html`<p class="soft">${TEXTS.more(related.length - RELATED_MAX)}</p>` : undefined;
  const what = related.length === 0 ? html`<p class="soft">${TEXTS.noneRelated}</p>` : list(hanging);
  return section({
    id: `found-${at}`,
    heading: TEXTS.kinds[kind],
    body: [facts, html`<h3>${TEXTS.related}</h3>`, what, more],
  });
}
