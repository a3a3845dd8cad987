import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import type { Signal } from '#kernel/work/signal.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { ANSWER_BYTES_MAX, type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';
import { createChunkMaker } from '#providers/translated/chunk-maker.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { vendorFailureOf } from '#providers/dialect/failure.ts';
import { libraryWarnings } from '#providers/translated/metrics.ts';
import { PartStream } from '#providers/translated/part-stream.ts';
import { createTimer, type Timer, tooSlow } from '#providers/transport/timer.ts';
import { toCompletion } from '#providers/translated/to-completion.ts';
import { toOptions } from '#providers/translated/to-options.ts';
import type { VendorFetch, VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface TranslatedOptions {
  readonly dialect: Dialect;
  readonly http: VendorHttp;
  readonly key: KeySource | undefined;
}

/** A provider whose vendor speaks a format of its own: requests and answers are translated through V4 of `@ai-sdk/provider`. */
export function createTranslated({ dialect, http, key }: TranslatedOptions): Provider {
  function fetchOf(call: ProviderCall, bytesMax: number | undefined): VendorFetch {
    const checkBody = (body: string): void => checkLimit(dialect, call, body);
    return http.fetchFor({ bytesMax, framing: dialect.framing, hasPictures: dialect.hasPictures, checkBody });
  }

  async function modelOf(call: ProviderCall, bytesMax: number | undefined, sent: Sent): Promise<LanguageModelV4> {
    const { providerModel } = call;
    const fetch = fetchOf(call, bytesMax);
    if (key === undefined) return dialect.modelOf({ providerModel, fetch, key });
    sent.key = await key.current();
    return dialect.modelOf({ providerModel, fetch, key: { text: sent.key, isToken: key.isToken } });
  }

  /** A key that is refused may have become old. It is fetched again for the next call. Gemini refuses keys with a 400. */
  function noteRefusal(failure: unknown, sent: Sent): void {
    const isRefused = failure instanceof UpstreamError && failure.kind === 'unauthorized';
    const isOfKey = isRefused && (failure.status === 401 || failure.status === 400);
    if (isOfKey && sent.key !== undefined) key?.refused(sent.key);
  }

  return {
    complete: async (call) => {
      const sent: Sent = {};
      const timer = createTimer(call.timeoutMs);
      try {
        const { options, answerTool } = toOptions(dialect, call, timer.signal);
        const model = await timer.within(modelOf(call, ANSWER_BYTES_MAX, sent));
        const result = await model.doGenerate(options);
        countWarnings(result.warnings);
        return toCompletion(dialect, result, answerTool);
      } catch (fault) {
        const failure = timer.isOver() ? tooSlow() : vendorFailureOf(dialect, fault);
        noteRefusal(failure, sent);
        throw failure;
      } finally {
        timer.stop();
      }
    },
    stream: async (call, signal) => {
      const sent: Sent = {};
      // Until the first part the timer runs, and from then on the stream's own.
      const timer = createTimer(call.timeoutMs);
      const giveUp = (): void => timer.abort();
      const leave = (): void => {
        timer.stop();
        signal.removeEventListener('abort', giveUp);
      };
      const failureOf = (fault: unknown): unknown => failureIn(dialect, fault, signal, timer);
      try {
        if (signal.aborted) throw new UpstreamError('unsent', 'The call was given up before it was sent.');
        signal.addEventListener('abort', giveUp);
        const { options, answerTool } = toOptions(dialect, call, timer.signal);
        const model = await timer.within(modelOf(call, undefined, sent));
        const { stream } = await model.doStream(options);
        timer.stop();
        const maker = createChunkMaker(dialect, answerTool, countWarnings);
        const { timeoutMs: silenceMsMax } = call;
        return new PartStream(stream, { maker, silenceMsMax, abort: timer.abort, onLeft: leave, failureOf });
      } catch (fault) {
        leave();
        const failure = failureOf(fault);
        noteRefusal(failure, sent);
        throw failure;
      }
    },
  };
}

/** The key that a call was sent with, once it is known. */
interface Sent {
  key?: string;
}

/** Why a stream failed. An abort is the library's word for two things: the caller's end, and our timer's. */
function failureIn(dialect: Dialect, fault: unknown, signal: Signal, timer: Timer): unknown {
  if (fault instanceof UpstreamError) return fault;
  if (timer.isOver()) return tooSlow();
  if (signal.aborted) return new UpstreamError('given-up', 'The call was given up.');
  return vendorFailureOf(dialect, fault);
}

function countWarnings(warnings: readonly unknown[]): void {
  if (warnings.length > 0) libraryWarnings.add(warnings.length);
}

/** Throws before a body is sent whose output limit the hold does not pay for (WA-07). Libraries add to limits on their own. */
function checkLimit(dialect: Dialect, { outputTokens }: ProviderCall, body: string): void {
  const parsed = parseJson(body);
  const limit = isJsonObject(parsed) ? dialect.limitInBody(parsed) : undefined;
  if (typeof limit === 'number' && limit <= outputTokens) return;
  throw new UpstreamError(
    'unsent',
    `The request for ${dialect.kind} has an output limit that the hold does not pay for.`,
  );
}
