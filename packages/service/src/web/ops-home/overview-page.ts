import { html } from '#kernel/html.ts';
import { figures } from '#web/components/figures.ts';
import { section } from '#web/components/section.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/for-operator.ts';
import { showOpsPage } from '#web/ops/ops-page.ts';
import type { OpsServices } from '#web/ops/ops-services.ts';
import { OVERVIEW_TEXTS as TEXTS } from '#web/ops-home/texts.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `/ops`: what needs the attention of an operator. */
export function overviewPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { formats } = asked.request;
      const toMs = services.clock.nowMs();
      const range = { of: 'every app', mode: 'live', fromMs: toMs - DAY_MS, toMs } as const;
      const { calls, charged, refusals, providerErrors, faults } = await services.stats.totals(range);
      const tiles = figures([
        { name: TEXTS.calls, value: formats.count(calls) },
        { name: TEXTS.charged, value: formats.coins(charged, services.currency) },
        { name: TEXTS.refused, value: formats.count(refusals) },
        { name: TEXTS.failed, value: formats.count(providerErrors + faults) },
      ]);
      const body = html`<div id="figures" data-live>\n${section({ id: 'day', heading: TEXTS.day, body: [tiles] })}\n</div>`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: '' });
    },
  });
}
