import { type Html, html } from '#kernel/text/html.ts';
import type { AppDetails } from '#operator/people/apps.ts';
import { badge } from '#web/components/badge.ts';
import { filterForm } from '#web/fields/filter.ts';
import { moment } from '#web/figures/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { APPS_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const PAGE_LENGTH = 50;
const QUERY_LENGTH_MAX = 256;

/** Makes the page `/ops/apps`, which lists all apps. */
export function appsPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const text = (query.get('query') ?? '').trim().slice(0, QUERY_LENGTH_MAX);
      const chosen = query.get('status');
      const status = chosen === 'active' || chosen === 'suspended' ? chosen : undefined;
      const after = query.get('after') ?? undefined;
      const { apps, next } = await services.operator.apps.page({ text, status, after, most: PAGE_LENGTH });
      const kept = { query: text, status };
      const shown = table({
        caption: TEXTS.caption,
        columns: TEXTS.columns.map((name) => ({ name })),
        rows: apps.map((app) => rowOf(asked, app)),
        empty: TEXTS.none,
      });
      const pages = pager({
        newer: after === undefined ? undefined : { href: opsPath('apps', kept), text: TEXTS.newest },
        older: next === undefined ? undefined : { href: opsPath('apps', { ...kept, after: next }), text: TEXTS.older },
      });
      const choices = [
        { value: '', text: TEXTS.all },
        { value: 'active', text: TEXTS.statuses.active },
        { value: 'suspended', text: TEXTS.statuses.suspended },
      ];
      const filter = filterForm(opsPath('apps'), 'live', [
        { name: 'query', label: TEXTS.query, value: text },
        { name: 'status', label: TEXTS.status, value: status ?? '', choices },
      ]);
      return showOpsPage(services, asked, {
        title: TEXTS.title,
        body: html`${filter}\n${card(shown, pages)}`,
        page: 'apps',
      });
    },
  });
}

function rowOf({ request: { formats } }: OpsRequest, app: AppDetails): readonly (Html | string)[] {
  const { appId, name, ownerEmails, isFirstParty, createdAtMs } = app;
  return [
    html`<a href="${opsPath('app', { id: appId })}">${name}</a><br><code>${appId}</code>`,
    ownerEmails.length === 0 ? TEXTS.noOwner : ownerEmails.join(', '),
    html`${stateOf(app)}${isFirstParty ? html` ${badge(TEXTS.firstParty, 'good')}` : undefined}`,
    moment(createdAtMs, formats),
  ];
}

/** Whether an app's calls are admitted, in a word. */
export function stateOf({ status }: Pick<AppDetails, 'status'>): Html {
  return badge(TEXTS.statuses[status], status === 'active' ? 'good' : 'warn');
}
