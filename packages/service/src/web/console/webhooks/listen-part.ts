import type { ListenToken } from '#developers/teams/listen-token.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { hiddenField } from '#web/fields/form.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { LOCAL_TEXTS as TEXTS } from '#web/console/webhooks/texts.ts';

/** Shows for `purser listen` the command, tokens for it, and those that were made. */
export function listenPart(asked: AppRequest, publicUrl: string, tokens: readonly ListenToken[]): Html {
  const { request, to } = asked;
  return section({
    id: 'local',
    heading: TEXTS.heading,
    body: [
      html`<p>${TEXTS.what}</p>`,
      codeBlock({ id: 'listen', label: TEXTS.command, code: commandOf(asked, publicUrl) }),
      html`<p class="soft">${TEXTS.asks}</p>`,
      request.form(to('webhooks'), button(TEXTS.make, { kind: 'quiet', name: 'act', value: 'token' })),
      tokens.length === 0 ? undefined : tokensTable(asked, tokens),
    ],
  });
}

/** The command with a token that was just made. */
export function tokenNotice(asked: AppRequest, publicUrl: string, token: string): Html {
  const code = `PURSER_LISTEN_TOKEN=${token} \\\n  ${commandOf(asked, publicUrl)}`;
  return html`<div class="good" role="status"><p><strong>${TEXTS.made}</strong>: ${TEXTS.once}</p>
${codeBlock({ id: 'listen-token', label: TEXTS.commandWithToken, code, wraps: true })}</div>`;
}

function commandOf({ app }: AppRequest, publicUrl: string): string {
  return `npm run purser -- listen --app ${app.appId} --url ${publicUrl} --forward http://localhost:3000/hook`;
}

function tokensTable({ request, to }: AppRequest, tokens: readonly ListenToken[]): Html {
  const at = (epochMs: number) => html`${moment(epochMs, request.formats)}`;
  const rows = tokens.map(({ listenTokenId, madeBy, createdAtMs, expiresAtMs, lastUsedAtMs }) => [
    html`${madeBy}<br><span class="soft">${at(createdAtMs)}</span>`,
    lastUsedAtMs === undefined ? TEXTS.never : at(lastUsedAtMs),
    at(expiresAtMs),
    request.form(
      to('webhooks'),
      html`${hiddenField('token', listenTokenId)}${button(TEXTS.revoke, { kind: 'danger', name: 'act', value: 'revoke' })}`,
    ),
  ]);
  return table({ caption: TEXTS.caption, columns: TEXTS.columns.map((name) => ({ name })), rows, empty: '' });
}
