import type { Html } from '#kernel/text/html.ts';
import type { EntryFilter } from '#operator/look-up/audit-trail.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import { TRAIL_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const SHOWN_MAX = 20;

/** The latest acts that fit: on an app or an account, or of an account. For those who may look things up. */
export async function trailPart(
  { operator, mayOpen, moment }: OpsRequest,
  kind: 'on' | 'by',
  filter: EntryFilter,
): Promise<Html | undefined> {
  // The audit trail is for support and above, as the page that finds things is.
  if (!mayOpen('find')) return undefined;
  const { entries } = await operator.auditSearch.find(filter, { before: undefined, most: SHOWN_MAX });
  const shown = listing({
    note: 'The latest 20 acts',
    columns: ['When', 'Who', 'What', 'On what', 'Why'],
    rows: entries.map(({ atMs, actor, actorName, action, subject, reason }) => [
      moment(atMs),
      actorName ?? actor,
      code(action),
      code(subject),
      reason ?? '',
    ]),
    empty: 'Nothing yet.',
  });
  return part(`trail-${kind}`, TEXTS[kind], shown);
}
