import { type EndUserId, type Mode, parseCallId, parseEndUserId } from '#kernel/values/ids.ts';
import { isJsonObject } from '#kernel/text/json.ts';
import type { OwnAnswer } from '#http/listener/own-calls.ts';
import { PLAYGROUND_TEXTS as TEXTS } from '#web/console/playground/texts.ts';
import type { Form } from '#web/forms/form.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { codeBlock, definitionList, section } from '#web/components/parts.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { inShell } from '#web/coding-agents/agent-lines.ts';

/** The fields as they are typed. */
export interface Typed {
  readonly user: string;
  readonly model: string;
  readonly message: string;
  readonly output: string;
  readonly isStream: boolean;
}

/** A call that can be sent. */
export interface Wanted {
  readonly userId: EndUserId;
  readonly model: string;
  /** The body, as it is sent and as the page shows it. */
  readonly body: string;
}

/** A call that was made, and its answer. */
export interface MadeCall {
  readonly wanted: Wanted;
  readonly answer: OwnAnswer;
  readonly tookMs: number;
}

const MESSAGE_LENGTH_MAX = 4_000;
const OUTPUT_MAX = 1_000_000;

export function typedOf(form: Form): Typed {
  return {
    user: form.field('user').trim(),
    model: form.field('model'),
    message: form.field('message').replaceAll('\r\n', '\n'),
    output: form.field('output').trim(),
    isStream: form.field('stream') === 'yes',
  };
}

/** The call that was typed, or what is wrong with it. */
export function wantedOf(typed: Typed, models: readonly string[]): Wanted | string {
  const { model, message, output, isStream } = typed;
  const userId = parseEndUserId(typed.user);
  const tokens = /^\d{1,7}$/.test(output) ? Number(output) : 0;
  if (userId === undefined) return TEXTS.userFault;
  if (!models.includes(model)) return TEXTS.modelFault;
  if (message.trim() === '' || message.length > MESSAGE_LENGTH_MAX) return TEXTS.messageFault;
  if (output !== '' && (tokens < 1 || tokens > OUTPUT_MAX)) return TEXTS.outputFault;
  const request = {
    model,
    messages: [{ role: 'user', content: message }],
    ...(output === '' ? {} : { max_completion_tokens: tokens }),
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  return { userId, model, body: JSON.stringify(request, null, 2) };
}

/** The value of a header of the answer. */
function headerOf({ headers }: OwnAnswer, name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

/** What the call says that it was charged, in micros: in a header, or at the end of a stream. Undefined if it does not say. */
function chargeIn(answer: OwnAnswer): bigint | undefined {
  const told = headerOf(answer, 'x-service-charge-micros') ?? /^: charge-micros=(\d+) /m.exec(answer.end)?.[1];
  return told === undefined ? undefined : BigInt(told);
}

/** The words of the first choice, of a whole answer or put together from the frames of a stream. Empty if there are none. */
function saidIn({ text }: OwnAnswer): string {
  if (!text.startsWith('data:') && !text.startsWith(':')) return wordsOf(parsed(text), 'message');
  const chunks = text.split('\n\n').map((frame) => parsed(frame.replace(/^data: /, '')));
  return chunks.map((chunk) => wordsOf(chunk, 'delta')).join('');
}

function wordsOf(answer: unknown, part: 'message' | 'delta'): string {
  const choices = isJsonObject(answer) ? answer['choices'] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const said = isJsonObject(first) ? first[part] : undefined;
  const content = isJsonObject(said) ? (said['content'] ?? said['refusal']) : undefined;
  return typeof content === 'string' ? content : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns JSON with indents, and anything else as it is. */
function laidOut(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

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
