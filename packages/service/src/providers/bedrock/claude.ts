import { bedrockAddress } from '@purser/contract/catalogue-providers.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Signal } from '#kernel/work/signal.ts';
import { createCount } from '#providers/anthropic/count.ts';
import { completionOf, cutCompletionOf } from '#providers/anthropic/native-answer.ts';
import { countBody, invokeBody } from '#providers/bedrock/claude-body.ts';
import { createFrameReader } from '#providers/bedrock/claude-frames.ts';
import type { FindCredentials } from '#providers/bedrock/credentials.ts';
import { checkForAwsError, errorOfAws } from '#providers/bedrock/failures.ts';
import type { BedrockPlace } from '#providers/bedrock/open.ts';
import { signatureOf } from '#providers/bedrock/signature.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { type Address, createJsonProvider, type Interface } from '#providers/openai-compatible/json-provider.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';
import { createTimer, tooSlow } from '#providers/transport/timer.ts';

interface BedrockClaudeOptions {
  readonly place: BedrockPlace;
  readonly client: HttpClient;
  readonly key: KeySource | undefined;
  /** For a place without a key. */
  readonly credentials: FindCredentials;
}

/** A call whose body is made, because a signature covers all of it. */
const bodyOf = ({ native }: ProviderCall): string => native?.text ?? '{}';
const WORDS: Interface = {
  toRequest: bodyOf,
  completionOf: (answer) => {
    checkForAwsError(answer);
    return completionOf(answer);
  },
  cutCompletionOf,
  readerOf: createFrameReader,
  errorOf: errorOfAws,
  hasFrames: true,
};

/** Claude at Bedrock for callers of Messages: Anthropic's format in InvokeModel, which has an address for each model and for each way. */
export function createBedrockClaude({ place, client, key, credentials }: BedrockClaudeOptions): Provider {
  const { region } = place;
  const models = `${bedrockAddress(place)}/model/`;
  const at = (operation: string, modelOf = (model: string) => model): Address => ({
    http: client,
    key,
    urlOf: (model) => new URL(`${models}${encodeURIComponent(modelOf(model))}/${operation}`),
  });
  const [invoke, invokeStreamed, countTokens] = [
    at('invoke'),
    at('invoke-with-response-stream'),
    at('count-tokens', foundationModelOf),
  ];
  const plain = createJsonProvider(invoke, WORDS);
  const streamed = createJsonProvider(invokeStreamed, WORDS);
  const count = createCount(countTokens, { bodyOf, member: 'inputTokens', errorOf: errorOfAws });

  async function ready(call: ProviderCall, { urlOf }: Address, body: string, signal?: Signal): Promise<ProviderCall> {
    const made = { ...call, native: { api: 'messages', text: body } } as const;
    if (key !== undefined) return made;
    const begunMs = steadyClock.nowMs();
    const signed = signatureOf(credentials, { url: urlOf(call.providerModel), region, body });
    const headers = await inTime(signed, call.timeoutMs, signal);
    // What credentials have taken is gone from the call's time.
    const timeoutMs = Math.max(1, call.timeoutMs - (steadyClock.nowMs() - begunMs));
    return {
      ...made,
      headers: { ...call.headers, ...headers },
      timeoutMs: signal === undefined ? timeoutMs : call.timeoutMs,
    };
  }

  return {
    complete: async (call) => plain.complete(await ready(call, invoke, invokeBody(call))),
    stream: async (call, signal) =>
      streamed.stream(await ready(call, invokeStreamed, invokeBody(call), signal), signal),
    countPrompt: async (call) => count(await ready(call, countTokens, countBody(call))),
  };
}

/** Tokens are counted by the model itself, and not by the profiles of several regions by which it is called. */
function foundationModelOf(providerModel: string): string {
  return providerModel.replace(/^[a-z-]+\.(?=anthropic\.)/, '');
}

/** Credentials may take long to come. */
async function inTime<Value>(value: Promise<Value>, timeoutMs: number, signal: Signal | undefined): Promise<Value> {
  const timer = createTimer(timeoutMs);
  const giveUp = (): void => timer.abort();
  if (signal?.aborted === true) timer.abort();
  signal?.addEventListener('abort', giveUp);
  try {
    return await timer.within(value);
  } catch (fault) {
    if (timer.isOver()) throw tooSlow();
    if (signal?.aborted === true) throw new UpstreamError('unsent', 'The call was given up before it was sent.');
    throw fault;
  } finally {
    timer.stop();
    signal?.removeEventListener('abort', giveUp);
  }
}
