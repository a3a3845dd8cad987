import { EVENT_TYPES, type EventType } from '@purser/contract/webhooks.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { section } from '#web/components/section.ts';
import { selectField } from '#web/fields/select-field.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import type { SentTest } from '#webhooks/subscriptions/test-event.ts';
import { isTaken, wordsOf } from '#web/console/webhooks/attempt-words.ts';
import { DELIVERY_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';

/** The form that sends a test. `chosen`: the type that was just sent, or the usual one. */
export function testPart({ request, to }: AppRequest, chosen: EventType | undefined): Html {
  const choices = EVENT_TYPES.map((type) => ({ value: type, text: type, isChosen: type === chosen }));
  const fields = html`${selectField({ name: 'type', label: TEXTS.testType, choices })}
${button(TEXTS.send, { kind: 'quiet', name: 'act', value: 'test' })}`;
  return section({
    id: 'test',
    heading: TEXTS.test,
    body: [html`<p>${TEXTS.testWhat}</p>`, request.form(to('webhooks'), fields)],
  });
}

/** What became of the test event that was just sent. */
export function sentNotice({ eventId, body, attempt, passedOver = 'no_endpoint', listeners }: SentTest): Html {
  const isGood = attempt === undefined || isTaken(attempt.status);
  return html`<div class="${isGood ? 'good' : 'alert'}" role="status">
<p><strong>${isGood ? TEXTS.sent : TEXTS.notSent}</strong></p>
${definitionList([
  [TEXTS.toEndpoint, attempt === undefined ? TEXTS.passedOver[passedOver] : wordsOf(attempt)],
  [TEXTS.toListeners, listeners === 0 ? TEXTS.noListeners : TEXTS.listeners(listeners)],
  [DELIVERY_TEXTS.id, html`<code>${eventId}</code>`],
])}
${codeBlock({ id: 'sent-body', label: TEXTS.body, code: body, wraps: true })}
</div>`;
}
