import type { TestToken } from '#developers/teams/test-token.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { hiddenField } from '#web/fields/form.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { TEST_TOKEN_TEXTS as TEXTS } from '#web/console/users/texts.ts';

/** The tokens for automated tests, and the button that makes one. For owners of the app. */
export function testTokensPart({ request, to }: AppRequest, tokens: readonly TestToken[]): Html {
  const at = (epochMs: number) => html`${moment(epochMs, request.formats)}`;
  const rows = tokens.map(({ testTokenId, madeBy, createdAtMs, lastUsedAtMs }) => [
    html`${madeBy}<br><span class="soft">${at(createdAtMs)}</span>`,
    lastUsedAtMs === undefined ? TEXTS.never : at(lastUsedAtMs),
    request.form(
      to('sandbox'),
      html`${hiddenField('token', testTokenId)}${button(TEXTS.revoke, { kind: 'danger', name: 'act', value: 'revoke-token' })}`,
    ),
  ]);
  return section({
    id: 'tokens',
    heading: TEXTS.heading,
    body: [
      html`<p>${TEXTS.what}</p>`,
      request.form(to('sandbox'), button(TEXTS.make, { kind: 'quiet', name: 'act', value: 'make-token' })),
      tokens.length === 0
        ? undefined
        : table({ caption: TEXTS.caption, columns: TEXTS.columns.map((name) => ({ name })), rows, empty: '' }),
    ],
  });
}

/** A token that was just made. It is shown by this answer, and never again. */
export function testTokenNotice(token: string): Html {
  return html`<div class="good" role="status"><p><strong>${TEXTS.made}</strong>: ${TEXTS.once}</p>
${codeBlock({ id: 'test-token', label: TEXTS.token, code: token, wraps: true })}</div>`;
}
