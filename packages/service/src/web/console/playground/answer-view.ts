import { type Html, html } from '#kernel/text/html.ts';
import { type Mode, parseCallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';
import { codeBlock, definitionList, section } from '#web/components/parts.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import {
  chargeIn,
  headerOf,
  laidOut,
  type MadeCall,
  saidIn,
  type Wanted,
} from '#web/console/playground/playground-call.ts';
import { PLAYGROUND_TEXTS as TEXTS } from '#web/console/playground/texts.ts';
import { inShell } from '#web/coding-agents/agent-lines.ts';

/** The number of characters of a body that are shown. */
const SHOWN_MAX = 12_000;

/** Everything that came back from a call: what the model said, money, headers, body, and the call as code. */
export async function answerView(asked: AppRequest, made: MadeCall): Promise<Html> {
  const { answer, wanted } = made;
  const said = saidIn(answer);
  const isStream = headerOf(answer, 'content-type')?.startsWith('text/event-stream') === true;
  const whole = isStream ? answer.text : laidOut(answer.text);
  const body = whole.slice(0, SHOWN_MAX);
  const { curl, javascript, sent } = snippetsOf(asked.services.publicUrl, asked.mode, wanted);
  const headers = answer.headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${answer.headers[at + 1]}`] : []));
  return html`${section({
    id: 'answer',
    heading: TEXTS.answer,
    body: [
      await factsOf(asked, made),
      said === '' ? undefined : codeBlock({ id: 'said', label: TEXTS.said, code: said, wraps: true }),
      codeBlock({ id: 'headers', label: TEXTS.headers, code: headers.join('\n') }),
      codeBlock({ id: 'body', label: isStream ? TEXTS.frames : TEXTS.body, code: body, wraps: isStream }),
      answer.isCut || body.length < whole.length ? html`<p class="soft">${TEXTS.cut}</p>` : undefined,
    ],
  })}
${section({
  id: 'as-code',
  heading: TEXTS.asCode,
  body: [
    codeBlock({ id: 'sent', label: TEXTS.sent, code: sent }),
    codeBlock({ id: 'curl', label: 'curl', code: curl }),
    codeBlock({ id: 'javascript', label: 'JavaScript', code: javascript }),
  ],
})}`;
}

async function factsOf(asked: AppRequest, { answer, tookMs }: MadeCall): Promise<Html> {
  const { services, app, mode, to, amountOf } = asked;
  const callId = parseCallId(headerOf(answer, 'x-service-call-id') ?? '');
  const correlationId = headerOf(answer, 'x-correlation-id');
  const receipt =
    mode === 'live' && callId !== undefined ? await services.appUsage.receipt(app.appId, callId) : undefined;
  const told = chargeIn(answer);
  const charged = receipt?.charged ?? (told === undefined ? undefined : micros(told));
  const unknown = answer.status === 200 ? TEXTS.unknownCharge : TEXTS.noCharge;
  return definitionList([
    [TEXTS.status, answer.status],
    [TEXTS.took, `${tookMs} ms`],
    receipt === undefined ? undefined : [TEXTS.held, amountOf(receipt.held)],
    [TEXTS.charged, charged === undefined ? unknown : amountOf(charged)],
    correlationId === undefined
      ? undefined
      : [TEXTS.call, html`<a href="${to('call', { id: callId ?? correlationId })}">${TEXTS.open}</a>`],
  ]);
}

const KEYS = { live: 'PURSER_LIVE_KEY', sandbox: 'PURSER_TEST_KEY' } as const;

/** The call as commands to copy. Keys are variables: no page can show one. */
function snippetsOf(publicUrl: string, mode: Mode, { userId, body }: Wanted) {
  const url = `${publicUrl}/v1/chat/completions`;
  const curl = `curl ${url} \\
  -H "authorization: Bearer $${KEYS[mode]}" \\
  -H ${inShell(`x-service-user: ${userId}`)} \\
  -H 'content-type: application/json' \\
  -d ${inShell(body)}`;
  const javascript = `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.${KEYS[mode]}}\`,
    'x-service-user': ${JSON.stringify(userId)},
    'content-type': 'application/json',
  },
  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),
});
console.log(response.status, await response.text());`;
  const sent = `POST /v1/chat/completions
authorization: Bearer $${KEYS[mode]}
x-service-user: ${userId}
content-type: application/json

${body}`;
  return { curl, javascript, sent };
}
