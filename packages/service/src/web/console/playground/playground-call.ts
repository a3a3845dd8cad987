import { type EndUserId, parseEndUserId } from '#kernel/values/ids.ts';
import { isJsonObject } from '#kernel/text/json.ts';
import type { OwnAnswer } from '#http/listener/own-calls.ts';
import { PLAYGROUND_TEXTS as TEXTS } from '#web/console/playground/texts.ts';
import type { Form } from '#web/forms/read-form.ts';

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
export function headerOf({ headers }: OwnAnswer, name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

/** What the call says that it was charged, in micros: in a header, or at the end of a stream. Undefined if it does not say. */
export function chargeIn(answer: OwnAnswer): bigint | undefined {
  const told = headerOf(answer, 'x-service-charge-micros') ?? /^: charge-micros=(\d+) /m.exec(answer.end)?.[1];
  return told === undefined ? undefined : BigInt(told);
}

/** The words of the first choice, of a whole answer or put together from the frames of a stream. Empty if there are none. */
export function saidIn({ text }: OwnAnswer): string {
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
export function laidOut(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
