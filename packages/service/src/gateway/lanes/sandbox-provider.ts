import { setTimeout as pause } from 'node:timers/promises';
import type { StreamPace } from '#gateway/call/call.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Signal } from '#kernel/work/signal.ts';
import { sourceOf } from '#gateway/lanes/chunk-source.ts';
import { type Provider, type ProviderCall, type StreamChunk, UpstreamError } from '#providers/port/provider.ts';
import { cannedEmbeddings } from '#sandbox/answers/canned-embeddings.ts';
import { cannedChunks, cannedCompletion } from '#sandbox/answers/canned-answer.ts';
import { CANNED, findOutcome, outcomeModel, type Outcome, type OutcomeFailure } from '#sandbox/answers/outcomes.ts';

/**
 * Stands in for a provider: gives the outcome that was set for this call, the one that its model asks for, or the canned answer. Waits are multiples of the
 * wait for a stream's status, so that a test with a short wait sees the same order of events.
 */
export function createSandboxProvider(
  { call: { callId, prompt, model, choices }, plays }: Pick<Hold<'sandbox'>, 'call' | 'plays'>,
  { statusMsMax }: StreamPace,
): Provider {
  const outcome = findOutcome(plays === undefined ? model.id : outcomeModel(plays)) ?? CANNED;
  const cannedCallOf = ({ request, outputTokens }: ProviderCall) => {
    const { tools, response_format: format } = request;
    return { callId, promptTokens: prompt.tokensEstimated, outputTokensMax: outputTokens, choices, tools, format };
  };
  return {
    complete: async (call) => {
      await wait(outcome.silence * statusMsMax);
      if (outcome.failure !== undefined) throw errorOf(outcome.failure);
      const { native } = call;
      if (native?.api === 'embeddings') {
        const asked = { promptTokens: prompt.tokensEstimated, inputs: prompt.prompts, text: native.text };
        return cannedEmbeddings(asked, outcome);
      }
      return cannedCompletion(cannedCallOf(call), outcome);
    },
    stream: async (call, signal) => {
      if (outcome.failure?.at !== 'middle') await wait(outcome.silence * statusMsMax, signal);
      if (outcome.failure?.at === 'beginning') throw errorOf(outcome.failure);
      return sourceOf(play(cannedChunks(cannedCallOf(call), outcome), outcome, { statusMsMax, signal }));
    },
  };
}

interface Playing {
  readonly statusMsMax: number;
  readonly signal: Signal;
}

/** Yields the chunks at their pace and then throws the failure, if there is one. */
async function* play(
  chunks: readonly StreamChunk[],
  { pace, silence, failure }: Outcome,
  { statusMsMax, signal }: Playing,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  if (pace === 0) {
    yield chunks;
  } else {
    for (const chunk of chunks) {
      yield [chunk];
      await wait(pace * statusMsMax, signal);
    }
  }
  if (failure?.at !== 'middle') return;
  await wait(silence * statusMsMax, signal);
  throw errorOf(failure);
}

/** The same error as a real provider's, so that the gateway handles it by the same code. */
function errorOf({ kind }: OutcomeFailure): UpstreamError {
  return new UpstreamError(kind, 'The sandbox was asked for this failure.');
}

/** Waits, or throws when the signal aborts: nobody is there for the rest then. */
async function wait(ms: number, signal?: Signal): Promise<void> {
  if (ms === 0) return;
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  try {
    await pause(ms, undefined, waiting);
  } catch (fault) {
    throw new UpstreamError('given-up', 'The call was given up.', { cause: fault });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
