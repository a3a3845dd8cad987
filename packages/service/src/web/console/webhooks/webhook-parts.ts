import { type Html, html } from '#kernel/text/html.ts';
import type { Subscription } from '#webhooks/subscriptions/subscription.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { confirmation } from '#web/components/confirm.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { card, section } from '#web/components/section.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';

/** A secret that was just made. */
export function secretNotice(secret: string): Html {
  return html`<div class="good" role="status"><p><strong>${TEXTS.secret}</strong>: ${TEXTS.secretOnce}</p>
${codeBlock({ id: 'secret', label: TEXTS.secret, code: secret, wraps: true })}</div>`;
}

export function statusPart({ status, droppedInRow, secretFingerprint }: Subscription): Html {
  return card(
    definitionList([
      [TEXTS.status, status === 'active' ? badge(TEXTS.active, 'good') : badge(TEXTS.isDisabled, 'warn')],
      [TEXTS.dropped, TEXTS.droppedOf(droppedInRow)],
      [TEXTS.fingerprint, html`<code>${secretFingerprint}</code>`],
    ]),
  );
}

export function secretPart({ request, to }: AppRequest): Html {
  const form = request.form(to('webhooks'), button(TEXTS.rotate, { kind: 'danger', name: 'act', value: 'secret' }));
  return section({
    id: 'secret-part',
    heading: TEXTS.secret,
    body: [html`<p>${TEXTS.secretWhat}</p>`, confirmation({ act: TEXTS.rotate, what: TEXTS.rotateWhat, form })],
  });
}

export function removePart({ request, to }: AppRequest): Html {
  const form = request.form(to('webhooks'), button(TEXTS.remove, { kind: 'danger', name: 'act', value: 'remove' }));
  return section({
    id: 'remove',
    heading: TEXTS.remove,
    body: [confirmation({ act: TEXTS.remove, what: TEXTS.removeWhat, form })],
  });
}
