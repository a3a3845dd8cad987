import { EVENT_TYPES, type EventType } from '@purser/contract/webhooks.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Subscription } from '#webhooks/subscriptions/subscription.ts';
import { confirmation } from '#web/components/notices.ts';
import { badge, button, card, codeBlock, definitionList, section } from '#web/components/parts.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { DELIVERY_TEXTS, LOCAL_TEXTS, WEBHOOKS_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';
import { hiddenField, selectField } from '#web/fields/fields.ts';
import type { SentTest } from '#webhooks/subscriptions/test-event.ts';
import { isTaken, wordsOf } from '#web/console/webhooks/deliveries-list.ts';
import type { ListenToken } from '#developers/teams/listen-token.ts';
import { moment, table } from '#web/figures/figures.ts';

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

/** Shows for `purser listen` the command, tokens for it, and those that were made. */
export function listenPart(asked: AppRequest, publicUrl: string, tokens: readonly ListenToken[]): Html {
  const { request, to } = asked;
  return section({
    id: 'local',
    heading: LOCAL_TEXTS.heading,
    body: [
      html`<p>${LOCAL_TEXTS.what}</p>`,
      codeBlock({ id: 'listen', label: LOCAL_TEXTS.command, code: commandOf(asked, publicUrl) }),
      html`<p class="soft">${LOCAL_TEXTS.asks}</p>`,
      request.form(to('webhooks'), button(LOCAL_TEXTS.make, { kind: 'quiet', name: 'act', value: 'token' })),
      tokens.length === 0 ? undefined : tokensTable(asked, tokens),
    ],
  });
}

/** The command with a token that was just made. */
export function tokenNotice(asked: AppRequest, publicUrl: string, token: string): Html {
  const code = `PURSER_LISTEN_TOKEN=${token} \\\n  ${commandOf(asked, publicUrl)}`;
  return html`<div class="good" role="status"><p><strong>${LOCAL_TEXTS.made}</strong>: ${LOCAL_TEXTS.once}</p>
${codeBlock({ id: 'listen-token', label: LOCAL_TEXTS.commandWithToken, code, wraps: true })}</div>`;
}

function commandOf({ app }: AppRequest, publicUrl: string): string {
  return `npm run purser -- listen --app ${app.appId} --url ${publicUrl} --forward http://localhost:3000/hook`;
}

function tokensTable({ request, to }: AppRequest, tokens: readonly ListenToken[]): Html {
  const at = (epochMs: number) => html`${moment(epochMs, request.formats)}`;
  const rows = tokens.map(({ listenTokenId, madeBy, createdAtMs, expiresAtMs, lastUsedAtMs }) => [
    html`${madeBy}<br><span class="soft">${at(createdAtMs)}</span>`,
    lastUsedAtMs === undefined ? LOCAL_TEXTS.never : at(lastUsedAtMs),
    at(expiresAtMs),
    request.form(
      to('webhooks'),
      html`${hiddenField('token', listenTokenId)}${button(LOCAL_TEXTS.revoke, { kind: 'danger', name: 'act', value: 'revoke' })}`,
    ),
  ]);
  return table({
    caption: LOCAL_TEXTS.caption,
    columns: LOCAL_TEXTS.columns.map((name) => ({ name })),
    rows,
    empty: '',
  });
}
