import { activityPageSchema } from '@purser/contract/trail.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { filterForm } from '#web/fields/filter.ts';
import { card } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage } from '#web/console/frame/app-page.ts';
import { ACT_TEXTS, ACTIVITY_TEXTS as TEXTS } from '#web/console/team/texts.ts';

const PAGE_LENGTH = 50;

type Entry = Awaited<ReturnType<AppRequest['services']['audit']['pageOfApp']>>['entries'][number];
type Facts = NonNullable<Entry['after']>;

/** Shows at `/console/:part/activity` what all members did with the app, newest first (CP-09). */
export const activityPage = forApp({
  GET: async (asked) => {
    const { app, request, mode, to } = asked;
    // What cannot be an act or a place in the list was typed by hand: the page begins at the newest.
    const { action, before } = activityPageSchema
      .pick({ action: true, before: true })
      .catch({ action: undefined, before: undefined })
      .parse({
        action: request.query.get('action') || undefined,
        before: request.query.get('before') || undefined,
      });
    const page = await asked.services.audit.pageOfApp({ appId: app.appId, action }, { before, most: PAGE_LENGTH });
    const list = table({
      caption: TEXTS.caption,
      columns: TEXTS.columns.map((name) => ({ name })),
      rows: page.entries.map((entry) => rowOf(asked, entry)),
      empty: TEXTS.none,
    });
    const pages = partsPager(
      asked,
      'activity',
      { kept: { action }, by: 'before', from: before, next: page.next },
      TEXTS,
    );
    const acts = Object.entries(ACT_TEXTS).map(([value, text]) => ({ value, text }));
    const choices = [{ value: '', text: TEXTS.all }, ...acts];
    const body = html`<p class="soft">${TEXTS.what}</p>
${filterForm(to('activity').split('?')[0] ?? '', mode, [{ name: 'action', label: TEXTS.action, value: action ?? '', choices }])}
${card(list, pages)}`;
    return showAppPage(asked, { title: TEXTS.title, body, page: 'activity' });
  },
});

function rowOf({ request: { formats }, app, to }: AppRequest, entry: Entry): readonly (Html | string)[] {
  const { actor, actorName, action, subject, from } = entry;
  const isAboutApp = subject === app.appId;
  const isKey = parseId('key', actor) !== undefined;
  return [
    moment(entry.atMs, formats),
    actorName ?? (isKey ? html`<a href="${to('key', { id: actor })}"><code>${actor}</code></a>` : actor),
    html`${ACT_TEXTS[action] ?? action}${isAboutApp ? undefined : html`<br><code class="soft">${subject.replace(`${app.appId} `, '')}</code>`}${changesOf(entry)}`,
    from ?? '',
  ];
}

/** The fields that changed, folded away. The trail has no secrets. */
function changesOf({ before = {}, after = {} }: Entry): Html | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return undefined;
  const lines = names.map((name) => html`<li>${name}: ${changeOf(before, after, name)}</li>\n`);
  return html`<details><summary>${TEXTS.changes}</summary><ul>
${lines}</ul></details>`;
}

function changeOf(before: Facts, after: Facts, name: string): string {
  const textOf = (facts: Facts) => textOfFact(facts[name]);
  if (!(name in before)) return textOf(after);
  if (!(name in after)) return textOf(before);
  return `${textOf(before)} → ${textOf(after)}`;
}

function textOfFact(value: unknown): string {
  if (value === null || value === undefined || value === '') return TEXTS.nothing;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
