import { type Html, html } from '#kernel/text/html.ts';
import type { EventHistory } from '#webhooks/history/history.ts';
import { card, codeBlock, definitionList, section } from '#web/components/parts.ts';
import { moment, table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, showAppPage, showMissing } from '#web/console/frame/app-page.ts';
import { stateBadge, userOf, wordsOf } from '#web/console/webhooks/deliveries-list.ts';
import { DELIVERY_TEXTS as TEXTS, WEBHOOKS_TEXTS } from '#web/console/webhooks/texts.ts';
import { inShell } from '#web/coding-agents/agent-lines.ts';

/** Shows at `/console/:part/delivery?id=` one event, its attempts, and how to ask for what it told. */
export const deliveryPage = forApp({
  GET: async (asked) => {
    const where = { page: 'webhooks', above: WEBHOOKS_TEXTS.title };
    const event = await asked.services.deliveries.event(asked.app.appId, asked.request.query.get('id') ?? '');
    if (event === undefined) {
      const body = card(html`<p role="alert">${TEXTS.none}</p>`);
      return showMissing(asked, { ...where, title: TEXTS.noneTitle }, TEXTS.none, body);
    }
    const body = html`<div class="columns">
<div>${factsOf(asked, event)}${attemptsOf(event)}</div>
<div>${bodyOf(event)}${missedOf(asked, event)}</div>
</div>`;
    return showAppPage(asked, { ...where, title: TEXTS.title, body });
  },
});

function factsOf({ request }: AppRequest, event: EventHistory): Html {
  const facts = definitionList([
    [TEXTS.id, html`<code>${event.eventId}</code>`],
    [TEXTS.type, event.type],
    [TEXTS.state, stateBadge(event.state)],
    [TEXTS.happened, moment(event.createdAtMs, request.formats)],
    event.nextAttemptAtMs === undefined ? undefined : [TEXTS.next, moment(event.nextAttemptAtMs, request.formats)],
  ]);
  return section({ id: 'facts', heading: TEXTS.facts, body: [facts] });
}

/** Shows attempts to the second, because they may be ten seconds apart. */
export function attemptsOf({ attempts }: EventHistory): Html {
  const rows = attempts.map((one) => [
    String(one.attempt),
    html`<time datetime="${one.at}">${one.at.slice(0, 19).replace('T', ' ')}</time>`,
    wordsOf(one),
  ]);
  const list = table({
    caption: TEXTS.attempts,
    columns: TEXTS.columns.map((name) => ({ name })),
    rows,
    empty: TEXTS.noAttempts,
  });
  return card(list, html`<p class="soft">${TEXTS.attemptsWhat}</p>`);
}

export function bodyOf({ body }: EventHistory): Html {
  const shown =
    body === undefined
      ? html`<p>${TEXTS.noBody}</p>`
      : codeBlock({ id: 'body', label: TEXTS.body, code: body, wraps: true });
  return section({ id: 'body-part', heading: WEBHOOKS_TEXTS.body, body: [shown] });
}

/** An event is never sent again after it was dropped, but `GET /balance` tells the same facts, as they are now. */
function missedOf({ services: { publicUrl } }: AppRequest, event: EventHistory): Html | undefined {
  const user = userOf(event);
  if (event.state === 'delivered' || user === undefined) return undefined;
  const code = `curl ${publicUrl}/balance \\
  -H "authorization: Bearer $PURSER_API_KEY" \\
  -H ${inShell(`x-service-user: ${user}`)}`;
  return section({
    id: 'missed',
    heading: TEXTS.missed,
    body: [
      html`<p>${TEXTS.missedWhat} ${TEXTS.missedTexts[event.type]}</p>`,
      codeBlock({ id: 'missed-command', label: TEXTS.ask, code }),
    ],
  });
}
