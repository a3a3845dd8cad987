import { html } from '#kernel/text/html.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { stateBadge, userOf } from '#web/console/webhooks/deliveries-list.ts';
import { attemptsOf, bodyOf } from '#web/console/webhooks/delivery-page.ts';
import { DELIVERY_TEXTS } from '#web/console/webhooks/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { showNoSuch, showOpsPage } from '#web/ops/frame/ops-page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { thingLink } from '#web/ops/frame/links.ts';
import { appFacts } from '#web/ops/apps/key-page.ts';
import { APPS_TEXTS, THING_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

/**
 * Makes the page `/ops/event?id=`, which shows one webhook event of any app, its body and the attempts to deliver it.
 */
export function eventPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { role, request } = asked;
      const found = await services.operator.anyEvent(request.query.get('id')?.trim() ?? '');
      const at = { page: 'apps', above: APPS_TEXTS.title };
      if (found === undefined) return showNoSuch(services, asked, { ...at, message: TEXTS.noEvent });
      const { appId, event } = found;
      const user = userOf(event);
      const facts = definitionList([
        [DELIVERY_TEXTS.id, html`<code>${event.eventId}</code>`],
        [DELIVERY_TEXTS.type, event.type],
        ...(await appFacts(services, asked, appId)),
        user === undefined ? undefined : [TEXTS.about, thingLink(role, { kind: 'wallet', id: `${appId} ${user}` })],
        [DELIVERY_TEXTS.state, stateBadge(event.state)],
        [DELIVERY_TEXTS.happened, moment(event.createdAtMs, request.formats)],
        event.nextAttemptAtMs === undefined
          ? undefined
          : [DELIVERY_TEXTS.next, moment(event.nextAttemptAtMs, request.formats)],
      ]);
      const body = html`<div class="columns">
<div>${section({ id: 'facts', heading: TEXTS.facts, body: [facts] })}${attemptsOf(event)}</div>
<div>${bodyOf(event)}</div>
</div>`;
      return showOpsPage(services, asked, { ...at, title: TEXTS.event, body });
    },
  });
}
