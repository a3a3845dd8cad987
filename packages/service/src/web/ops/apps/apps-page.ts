import { type Html, html } from '#kernel/text/html.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { badge } from '#web/components/badge.ts';
import { code } from '#web/ops/frame/details.ts';
import { choicesOf, listPage } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { APPS_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const PAGE_LENGTH = 50;
const QUERY_LENGTH_MAX = 256;

/** The page `/ops/apps`, which lists all apps. */
export const appsPage = listPage({
  page: 'apps',
  title: 'Apps',
  fields: () => ({
    query: { label: 'Part of the ID or name, or a member’s complete e-mail address' },
    status: { label: 'State', choices: choicesOf(TEXTS.statuses, 'All') },
  }),
  cursor: { name: 'after', first: 'Newest apps', more: 'Older apps' },
  read: async ({ operator }, { query, status: chosen }, after) => {
    const status = chosen === 'active' || chosen === 'suspended' ? chosen : undefined;
    const text = query.slice(0, QUERY_LENGTH_MAX);
    const { apps, next } = await operator.apps.page({ text, status, after, most: PAGE_LENGTH });
    return { rows: apps, next };
  },
  caption: 'Newest first',
  columns: () => ['Name', 'Owners', 'State', 'Created'],
  cells: ({ moment }, app: AppDetails) => [
    html`<a href="${opsPath('app', { id: app.appId })}">${app.name}</a><br>${code(app.appId)}`,
    app.ownerEmails.length === 0 ? 'nobody' : app.ownerEmails.join(', '),
    html`${stateOf(app)}${app.isFirstParty ? html` ${badge('First party', 'good')}` : undefined}`,
    moment(app.createdAtMs),
  ],
  empty: () => 'No apps match.',
});

/** Whether an app's calls are admitted, in a word. */
export function stateOf({ status }: Pick<AppDetails, 'status'>): Html {
  return badge(TEXTS.statuses[status], status === 'active' ? 'good' : 'warn');
}
