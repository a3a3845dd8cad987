import type { Code } from '../../../support/refusal.ts';
import { EMBEDDINGS } from '../../../support/embeddings-wire.ts';
import { completionBody, frame, type UpstreamScript, type UpstreamStep } from '../../../support/scripted-upstream.ts';
import type { CalledWire } from '../../../support/called-wire.ts';

/** One way a call can fail, or seem to, and its required result (CC-08, CC-09, CC-11, ER-06). */
export interface Path {
  readonly clause: string;
  /** Who does what: `the provider answers 500`. */
  readonly what: string;
  readonly kinds: readonly Kind[];
  /** The model of the path. It is `large` unless given. */
  readonly model?: PathModel;
  /** The provider's part, with its answers by the wire of the call. `gone on` resolves when the caller has done its first step. */
  readonly provider: UpstreamScript | ((answer: Answer, goneOn: Promise<void>) => UpstreamScript);
  readonly caller?: CallerPart;
  /** The result for a caller who stays: the whole answer, a refusal, or an error as the last frame. */
  readonly gets?: 'answer' | { readonly refusal: Code } | { readonly frame: Code };
  readonly ends: PathEnd;
}

/** What frames of chat completions alone have. */
const OF_CHAT = new Set(['assistant', '"stop"', '[DONE]', 'system_fingerprint']);

/** Whether its caller waits for something that no other wire writes. */
export function isOfChat({ caller }: Path): boolean {
  return OF_CHAT.has(caller?.reads ?? '');
}

export type Kind = 'plain' | 'streamed';
export const PLAIN: readonly Kind[] = ['plain'];
export const STREAMED: readonly Kind[] = ['streamed'];
export const BOTH: readonly Kind[] = ['plain', 'streamed'];

/** `hasty` waits two seconds for its provider and the others wait a minute. Nobody listens at the provider of `closed`. */
export type PathModel = 'large' | 'drained' | 'hasty' | 'drained-hasty' | 'closed';

export interface CallerPart {
  /** Reads this before it does anything else. */
  readonly reads?: string;
  /** Then the caller leaves. */
  readonly leaves?: true;
  /** Reads no more for a while before it leaves or reads the rest. */
  readonly stalls?: true;
  /** Sends only a part of its request before it leaves. */
  readonly isHalfSent?: true;
}

/** The receipt: none, one of a failed call, or one that is charged by this usage. */
export type PathEnd =
  | { readonly outcome: 'none' | 'failed' }
  | { readonly outcome: 'answered' | 'abandoned'; readonly by: PathUsage };

/** The usage as the provider reports it, zero as it reports it, or our own count of the prompt and of this text. */
type PathUsage = 'report' | 'zero' | { readonly counted: string };

export const FREE: PathEnd = { outcome: 'failed' };
export const ANSWERED: PathEnd = { outcome: 'answered', by: 'report' };
export const FAILED = 'UPSTREAM_PROVIDER_ERROR';
export const THROTTLED = 'UPSTREAM_THROTTLED';

/** What a provider says about itself and its customer. Our answers must not repeat it (ER-03). */
export const CANARY = 'sk-CANARY organization org-CANARY host CANARY.internal';
export const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
export const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
export const UPSTREAM_MODEL = 'large-upstream';

export const JSON_TYPE = { 'content-type': 'application/json' };
export const PIECES = ['begun', ', went on', ' and ended.'] as const;
export const CONTENT = PIECES.join('');

/** What a provider answers plainly, with a half of it and with an answer that holds nothing. */
export interface Answer {
  readonly whole: string;
  readonly half: string;
  readonly empty: string;
  /** One with other facts than the whole one. */
  readonly with: (facts: Facts) => string;
}

type Facts = Readonly<Record<string, unknown>>;

/** The answers of the provider by this wire. */
export function answerBy(wire: Pick<CalledWire, 'name'>): Answer {
  return wire.name === EMBEDDINGS.name ? VECTORS : COMPLETION;
}

function answerOf(list: 'choices' | 'data', bodyOf: (facts: Facts) => string): Answer {
  const whole = bodyOf({ usage: USAGE });
  const half = whole.slice(0, whole.length / 2);
  return { whole, half, empty: JSON.stringify({ ...JSON.parse(whole), [list]: [] }), with: bodyOf };
}

const COMPLETION = answerOf('choices', (facts) => {
  return completionBody({ model: UPSTREAM_MODEL, content: CONTENT, ...facts });
});
/** They say the same in numbers: see EMBEDDINGS. */
const VECTORS = answerOf('data', ({ usage }) => {
  const data = [{ object: 'embedding', index: 0, embedding: Array.from(CONTENT, (letter) => letter.codePointAt(0)) }];
  return JSON.stringify({ object: 'list', data, model: UPSTREAM_MODEL, usage });
});

/** One chunk of a stream, as the step that sends it. */
export function chunk(delta: object, reason: string | null = null, index = 0): { readonly write: string } {
  const choices = [{ index, delta, finish_reason: reason }];
  return { write: frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: UPSTREAM_MODEL, choices }) };
}

/** A chunk with text and a count so far, as some providers send on every chunk. */
export function running(content: string, usage: object): { readonly write: string } {
  return {
    write: frame({ id: 'chatcmpl-1', choices: [{ index: 0, delta: { content }, finish_reason: null }], usage }),
  };
}

export function usageChunk(usage: object): { readonly write: string } {
  return { write: frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage }) };
}

export const ROLE = chunk({ role: 'assistant', content: '' });
export const [FIRST, SECOND, THIRD] = PIECES.map((content) => chunk({ content })) as [Write, Write, Write];
export const FINISH = chunk({}, 'stop');
export const REPORT = usageChunk(USAGE);
export const DONE = { write: frame('[DONE]') };
export const NEVER: UpstreamStep = { hang: true };
/** This writes only the head. */
export const HEAD = { write: '' };
/** A whole stream. */
export const STREAM: readonly UpstreamStep[] = [ROLE, FIRST, SECOND, THIRD, FINISH, REPORT, DONE];

interface Write {
  readonly write: string;
}
