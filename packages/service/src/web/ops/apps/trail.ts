import { type Html, html } from '#kernel/text/html.ts';
import type { AuditSearch, EntryFilter } from '#operator/look-up/audit-search.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { mayOpen } from '#web/ops/frame/links.ts';
import { TRAIL_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const SHOWN_MAX = 20;

/** The latest acts that fit: on an app or an account, or of an account. For those who may look things up. */
export async function trailSection(
  { operator }: OpsServices,
  asked: OpsRequest,
  kind: 'on' | 'by',
  filter: EntryFilter,
): Promise<Html | undefined> {
  // The audit trail is for support and above, as the page that finds things is.
  if (!mayOpen(asked.role, 'find')) return undefined;
  const { entries } = await operator.auditSearch.find(filter, { before: undefined, most: SHOWN_MAX });
  const shown = table({
    caption: html`<span class="soft">${TEXTS.latest}</span>`,
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: entries.map((entry) => rowOf(asked, entry)),
    empty: TEXTS.none,
  });
  return section({ id: `trail-${kind}`, heading: TEXTS[kind], body: [shown] });
}

type Entry = Awaited<ReturnType<AuditSearch['find']>>['entries'][number];

function rowOf({ request: { formats } }: OpsRequest, { atMs, actor, actorName, action, subject, reason }: Entry) {
  return [
    moment(atMs, formats),
    actorName ?? actor,
    html`<code>${action}</code>`,
    html`<code>${subject}</code>`,
    reason ?? '',
  ];
}
