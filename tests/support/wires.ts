// How callers speak, for tests that are the same on every wire (WI-01).
import { test, type TestContext } from 'node:test';
import { type CallOptions, COMPLETIONS, type Reply, send } from './client.ts';
import type { CalledWire, Fields, Said, Used, UsageOfProvider } from './called-wire.ts';
import { EMBEDDINGS } from './embeddings-wire.ts';
import { type RecordedRequest, saying, type UpstreamScript } from './scripted-upstream.ts';

/** A wire of conversations. */
export interface SpokenWire extends CalledWire {
  readonly name: 'chat completions' | 'Responses' | 'Messages';
  /** The field that bounds the output. */
  readonly limitField: string;
  /** Asks for a stream that tells its usage. */
  readonly streamed: Fields;
  /** Tools, one of which has these parameters. */
  readonly toolsOf: (parameters: unknown) => Fields;
  readonly stream: (events: readonly Fields[]) => Omit<Said, 'charged'>;
}

/** What all wires of conversations have in common. */
const SPOKEN = {
  modelId: 'acme.large-1',
  changed: { temperature: 1 },
  saying: (content: string, usage?: UsageOfProvider) => saying(content, usage),
  paidOf: (usage: Used) => usage,
};

const CHAT: SpokenWire = {
  ...SPOKEN,
  name: 'chat completions',
  path: COMPLETIONS,
  promptField: 'messages',
  limitField: 'max_completion_tokens',
  question: { model: 'large', messages: [{ role: 'user', content: 'Hello' }] },
  streamed: { stream: true, stream_options: { include_usage: true } },
  promptOf: (prompt) => ({ messages: [{ role: 'user', content: prompt }] }),
  toolsOf: (parameters) => ({ tools: [{ type: 'function', function: { name: 'f', parameters } }] }),
  plain: (body) => {
    const [choice] = (body['choices'] ?? []) as readonly { message: { content: string }; finish_reason: string }[];
    return { text: choice?.message.content ?? '', reason: choice?.finish_reason, usage: chatUsage(body['usage']) };
  },
  stream: (events) => {
    const chunks = events as readonly {
      readonly choices?: readonly { delta: { content?: string }; finish_reason: string | null }[];
      readonly usage?: unknown;
      readonly error?: { readonly code: string };
    }[];
    const choices = chunks.flatMap((chunk) => (Array.isArray(chunk.choices) ? chunk.choices : []));
    return {
      text: choices.map(({ delta }) => delta.content ?? '').join(''),
      reason: choices.find(({ finish_reason: reason }) => reason !== null)?.finish_reason ?? undefined,
      usage: chatUsage(chunks.at(-1)?.usage),
      code: chunks.at(-1)?.error?.code,
    };
  },
};

function chatUsage(usage: unknown): Said['usage'] {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const told = usage as { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: CachedTokens };
  const cached = told.prompt_tokens_details?.cached_tokens ?? 0;
  return { prompt: told.prompt_tokens, cached, completion: told.completion_tokens };
}

interface CachedTokens {
  readonly cached_tokens?: number;
}

interface Response {
  readonly status: string;
  readonly output?: readonly { readonly type: string; readonly content?: readonly { readonly text?: string }[] }[];
  readonly usage: { input_tokens: number; output_tokens: number; input_tokens_details: CachedTokens } | null;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly error?: { readonly serviceCode: string } | null;
}

export const RESPONSES: SpokenWire = {
  ...SPOKEN,
  name: 'Responses',
  path: '/v1/responses',
  promptField: 'input',
  limitField: 'max_output_tokens',
  question: { model: 'large', input: 'Hello' },
  streamed: { stream: true },
  promptOf: (prompt) => ({ input: prompt }),
  toolsOf: (parameters) => ({ tools: [{ type: 'function', name: 'f', parameters }] }),
  plain: (body) => {
    const response = body as unknown as Response;
    const parts = (response.output ?? []).flatMap(({ content = [] }) => content);
    return { text: parts.map(({ text = '' }) => text).join(''), ...endOf(response) };
  },
  stream: (events) => {
    const last = (events.findLast(({ response }) => response !== undefined)?.['response'] ?? {}) as Response;
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    return {
      text: deltas.map(({ delta }) => String(delta)).join(''),
      ...endOf(last),
      code: last.error?.serviceCode,
    };
  },
};

function endOf({
  status,
  output = [],
  incomplete_details: incomplete,
  usage,
}: Response): Pick<Said, 'reason' | 'usage'> {
  const completed = output.some(({ type }) => type === 'function_call') ? 'tool_calls' : 'stop';
  const reasons: Fields = { completed, max_output_tokens: 'length', content_filter: 'content_filter' };
  const reason = reasons[incomplete?.reason ?? status];
  const cached = usage?.input_tokens_details.cached_tokens ?? 0;
  return {
    reason: typeof reason === 'string' ? reason : undefined,
    usage: usage ? { prompt: usage.input_tokens, cached, completion: usage.output_tokens } : undefined,
  };
}

interface Block {
  readonly type: string;
  readonly text?: string;
}

interface MessagesUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly output_tokens: number;
}

export const MESSAGES: SpokenWire = {
  ...SPOKEN,
  name: 'Messages',
  path: '/v1/messages',
  promptField: 'messages',
  limitField: 'max_tokens',
  question: { model: 'large', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }] },
  streamed: { stream: true },
  promptOf: (prompt) => ({ max_tokens: 1_000, messages: [{ role: 'user', content: prompt }] }),
  toolsOf: (parameters) => ({ tools: [{ name: 'f', input_schema: parameters }] }),
  plain: (body) => {
    const {
      content = [],
      stop_reason: reason,
      usage,
    } = body as { content?: readonly Block[]; stop_reason?: string; usage?: MessagesUsage };
    return {
      text: content.map(({ text = '' }) => text).join(''),
      reason: reasonOf(reason),
      usage: messagesUsage(usage),
    };
  },
  stream: (events) => {
    const end = (events.findLast(({ type }) => type === 'message_delta') ?? {}) as {
      readonly delta?: { readonly stop_reason: string };
      readonly usage?: MessagesUsage;
    };
    const deltas = events.filter(({ type }) => type === 'content_block_delta') as readonly {
      readonly delta?: unknown;
    }[];
    const error = events.find(({ type }) => type === 'error')?.['error'] as { readonly code: string } | undefined;
    return {
      text: deltas.map(({ delta }) => (delta as { readonly text?: string }).text ?? '').join(''),
      reason: reasonOf(end.delta?.stop_reason),
      usage: messagesUsage(end.usage),
      code: error?.code,
    };
  },
};

function reasonOf(stop: string | undefined): string | undefined {
  const reasons: Fields = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tool_calls', refusal: 'content_filter' };
  const reason = reasons[String(stop)];
  return typeof reason === 'string' ? reason : undefined;
}

/** On this wire, tokens from a cache lie beside those of the input. */
function messagesUsage(usage: MessagesUsage | undefined): Said['usage'] {
  if (usage === undefined) return undefined;
  const cached = usage.cache_read_input_tokens ?? 0;
  return { prompt: usage.input_tokens + cached, cached, completion: usage.output_tokens };
}

/** Every wire. The last needs a catalogue with vectors. */
export const ALL_WIRES = [CHAT, RESPONSES, MESSAGES, EMBEDDINGS] as const;
/** Those of conversations. */
export const WIRES = [CHAT, RESPONSES, MESSAGES] as const;
/** Those of OpenAI, whose clients name cache keys and users. */
export const WIRES_OF_OPENAI = [CHAT, RESPONSES] as const;

export function isSpoken(wire: CalledWire): wire is SpokenWire {
  return 'streamed' in wire;
}

/** What the provider of models of either sort answers, plain. */
export function sayingToAll(content: string, usage?: UsageOfProvider) {
  return ({ path }: Pick<RecordedRequest, 'path'>): UpstreamScript =>
    (path.endsWith(EMBEDDINGS.path) ? EMBEDDINGS : CHAT).saying(content, usage);
}

/** A call by this wire: one short question, other fields as given. */
export function ask(wire: CalledWire, options: CallOptions, fields: Fields = {}): Promise<Reply> {
  return send(wire.path, { body: { ...wire.question, ...fields }, ...options });
}

/** What a caller of this wire reads in an answer, plain or streamed. */
export function saidIn(wire: CalledWire, { text, body, headers }: Pick<Reply, 'text' | 'body' | 'headers'>): Said {
  if (!isSpoken(wire) || headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    return { ...wire.plain(body), charged: numberOf(headers.get('x-service-charge-micros')), code: undefined };
  }
  const data = text.matchAll(/^data: (\{.*)$/gm);
  const events = [...data].map(([, json = '']) => JSON.parse(json) as Fields);
  return { ...wire.stream(events), charged: numberOf(/: charge-micros=(\d+)/.exec(text)?.[1]) };
}

function numberOf(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Number(text);
}

/** Declares a test for each wire of conversations. On those beside chat completions, its name says so. */
export const eachWire = {
  test(
    name: string,
    run: (wire: SpokenWire, t: TestContext) => Promise<void>,
    wires: readonly SpokenWire[] = WIRES,
  ): void {
    for (const wire of wires) test(wire === CHAT ? name : `${name}, by ${wire.name}`, (t) => run(wire, t));
  },
};

/** The same for every wire. */
export const everyWire = {
  test(
    name: string,
    run: (wire: CalledWire, t: TestContext) => Promise<void>,
    wires: readonly CalledWire[] = ALL_WIRES,
  ): void {
    for (const wire of wires) test(wire === CHAT ? name : `${name}, by ${wire.name}`, (t) => run(wire, t));
  },
};
