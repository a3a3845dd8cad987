import { type Html, html } from '#kernel/html.ts';
import type { Entry } from '#operator/audit.ts';
import { moment } from '#web/components/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/components/table.ts';
import type { OpsRequest } from '#web/ops/for-operator.ts';
import type { OpsServices } from '#web/ops/ops-services.ts';
import { mayOpen } from '#web/ops/things.ts';
import { TRAIL_TEXTS as TEXTS } from '#web/ops-apps/texts.ts';

const SHOWN_MAX = 20;

/** The latest acts on a thing, or by an account: for those who may look things up. */
export async function trailSection(
  { operator }: OpsServices,
  asked: OpsRequest,
  which: { readonly on: string } | { readonly by: string },
): Promise<Html | undefined> {
  // The audit trail is for support and above, as the page that finds things is.
  if (!mayOpen(asked.role, 'find')) return undefined;
  const page = { before: undefined, most: SHOWN_MAX };
  const { entries } =
    'on' in which ? await operator.audit.pageOn(which.on, page) : await operator.audit.pageBy(which.by, page);
  const shown = table({
    caption: html`<span class="soft">${TEXTS.latest}</span>`,
    columns: TEXTS.columns.map((name) => ({ name })),
    rows: entries.map((entry) => rowOf(asked, entry)),
    empty: TEXTS.none,
  });
  const kind = 'on' in which ? 'on' : 'by';
  return section({ id: `trail-${kind}`, heading: TEXTS[kind], body: [shown] });
}

function rowOf({ request: { formats } }: OpsRequest, { atMs, actor, actorName, action, subject, reason }: Entry) {
  return [
    moment(atMs, formats),
    actorName ?? actor,
    html`<code>${action}</code>`,
    html`<code>${subject}</code>`,
    reason ?? '',
  ];
}
