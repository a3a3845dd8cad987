import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import type { Completion, UsageReport } from '#providers/completion.ts';
import { checkForError } from '#providers/openai-compatible/error.ts';
import { type Address, createJsonProvider } from '#providers/openai-compatible/json-provider.ts';
import { reportIn } from '#providers/openai-compatible/usage.ts';
import { inputsOf } from '#providers/embedded-inputs.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/provider.ts';

/** A provider that makes embeddings as well, at an address of its own: only a caller of that interface asks for them. */
export function withEmbeddings(others: Provider, address: Address): Provider {
  const embeddings = createOpenAiEmbeddings(address);
  const of = ({ native }: ProviderCall): Provider => (native?.api === 'embeddings' ? embeddings : others);
  return { complete: (call) => of(call).complete(call), stream: (call, signal) => of(call).stream(call, signal) };
}

function createOpenAiEmbeddings(address: Address): Provider {
  const { complete } = createJsonProvider(address, {
    toRequest,
    completionOf,
    // Without all of its vectors, an answer is of no use, and nothing in it says how many are missing.
    cutCompletionOf: () => {
      throw new UpstreamError('too-large', 'The provider sent larger vectors than its catalogue entry says.');
    },
    readerOf: neverStreamed,
  });
  return { complete, stream: neverStreamed };
}

function neverStreamed(): never {
  throw new Error('Embeddings are not streamed.');
}

/** The caller's own request, with the provider's name of the model. Joined as text, because it may be megabytes. */
function toRequest({ providerModel, native }: ProviderCall): string {
  if (native === undefined) throw new Error('Embeddings have the form of their caller.');
  return `{"model":${JSON.stringify(providerModel)},${native.text.slice(1)}`;
}

/** An answer with a choice that says nothing, because nothing is generated, and the vectors as they came. */
function completionOf(answer: unknown, { request }: ProviderCall): Completion {
  checkForError(answer); // Some providers send errors with status 200.
  const data = isJsonObject(answer) ? answer['data'] : undefined;
  if (!isJsonObject(answer) || !Array.isArray(data)) throw malformed('did not answer with embeddings');
  if (data.length !== inputsOf(request)) throw malformed('sent another number of vectors than it was asked for');
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
    usage: usageIn(answer),
    extra: {},
    native: { object: 'list', data: data.map(vectorOf) },
  };
}

/** What callers get of a vector: numbers, or the text that holds them in base64. */
function vectorOf(item: unknown, place: number): JsonObject {
  const { embedding, index } = isJsonObject(item) ? item : {};
  const isVector = typeof embedding === 'string' || (Array.isArray(embedding) && embedding.every(Number.isFinite));
  if (!isVector || embedding.length === 0) throw malformed('sent an embedding that is no vector');
  return { object: 'embedding', index: Number.isSafeInteger(index) ? index : place, embedding };
}

/** The usage, in which all tokens are of the input. */
function usageIn(answer: JsonObject): UsageReport | undefined {
  const report = reportIn(answer);
  return report && { ...report, counts: { completion: 0, ...report.counts } };
}

function malformed(what: string): UpstreamError {
  return new UpstreamError('malformed', `The provider ${what}.`);
}
