import type { SteadyClock } from '#kernel/time/clock.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';
import { callOf, type Manner, reported } from '#probe/exchange.ts';
import { HELLO } from '#probe/questions.ts';
import type { TokenCounts } from '#providers/port/completion.ts';
import { type ChunkSource, type StreamChunk, UpstreamError, type UpstreamErrorKind } from '#providers/port/provider.ts';

/** What one small call has shown. It has no text of the provider and nothing of the key. */
export interface TestedCall {
  /** The outcome is `answered`, or what the upstream did instead. */
  readonly outcome: 'answered' | UpstreamErrorKind;
  /** The outcome in our words. */
  readonly words: string;
  /** The HTTP status of a refusal. */
  readonly status: number | undefined;
  /** The code of the system or of TLS if no connection came about or it failed, such as `ECONNREFUSED`. */
  readonly faultCode?: string | undefined;
  /** How long the upstream asks us to wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** The milliseconds until the first of the answer. The next field is those until its end. */
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
  /** The counts of tokens. It is undefined if the upstream reported none. */
  readonly usage: TokenCounts | undefined;
}

/** The most output of the call. OpenAI's Responses takes no smaller limit than the second. */
const TOKENS = { chat: 1, responses: 16 } as const;

/** What a model of embeddings is asked. */
const TEXT_TO_EMBED = JSON.stringify({ input: 'Hello' });

/** Makes one streamed call of one token of output, or of a vector, and measures it. A failure of the upstream is a result. */
export async function testCall(manner: Manner, clock: SteadyClock): Promise<TestedCall> {
  const beginMs = clock.nowMs();
  const sinceMs = () => Math.round(clock.nowMs() - beginMs);
  let firstByteMs: number | undefined;
  try {
    if (manner.apis?.includes('embeddings') === true) {
      const native = { api: 'embeddings', text: TEXT_TO_EMBED } as const;
      const { usage, large } = await manner.provider.complete({ ...callOf(manner, EMBEDDED), native });
      large?.leave();
      return answered(sinceMs(), sinceMs(), reported(usage));
    }
    const isChat = manner.apis?.includes('chat') !== false;
    const call = { ...HELLO, outputTokens: isChat ? TOKENS.chat : TOKENS.responses };
    const source: ChunkSource = await manner.provider.stream(callOf(manner, call), new AbortController().signal);
    let usage: TokenCounts | undefined;
    const take = (chunks: readonly StreamChunk[]): boolean => {
      firstByteMs ??= sinceMs();
      for (const one of chunks) {
        for (const chunk of one instanceof TextRun ? one.chunks : [one]) usage = reported(chunk.usage) ?? usage;
      }
      return true;
    };
    const first = await source.first();
    if (first !== undefined) take(first);
    await source.rest(take);
    return answered(firstByteMs, sinceMs(), usage);
  } catch (fault) {
    if (!(fault instanceof UpstreamError)) throw fault;
    const { kind, message, status, retryAfterSeconds } = fault;
    const more = { faultCode: codeIn(fault.cause), retryAfterSeconds };
    return { outcome: kind, words: message, status, ...more, firstByteMs, totalMs: sinceMs(), usage: undefined };
  }
}

/** The same in the form of a chat, by which inputs are counted. */
const EMBEDDED = { request: { messages: [{ role: 'user', content: 'Hello' }] }, outputTokens: 1 };

function answered(firstByteMs: number | undefined, totalMs: number, usage: TokenCounts | undefined): TestedCall {
  return { outcome: 'answered', words: 'It answered.', status: undefined, firstByteMs, totalMs, usage };
}

/** The code of a fault, or of the first of several: a host may have several addresses, and each is tried. */
function codeIn(fault: unknown): string | undefined {
  if (!(fault instanceof Error)) return undefined;
  if ('code' in fault && typeof fault.code === 'string') return fault.code;
  if (fault instanceof AggregateError && fault.errors.length > 0) return codeIn(fault.errors[0]);
  return codeIn(fault.cause);
}
