import { isJsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import { completionOfVectors, inputAlone, tooLarge } from '#providers/embeddings/vectors.ts';
import { neverStreamed } from '#providers/embeddings/with-embeddings.ts';
import { checkForError } from '#providers/errors/errors.ts';
import { type Address, createJsonProvider } from '#providers/openai-compatible/json-provider.ts';
import { reportIn } from '#providers/answers/usage.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';

/** Embeddings in OpenAI's format. `bodyOf` writes a vendor's own words into the caller's request. */
export function createOpenAiEmbeddings(address: Address, bodyOf: (text: string) => string = asItIs): Provider {
  const { complete } = createJsonProvider(address, {
    toRequest: ({ providerModel, native }) => {
      if (native === undefined) throw new Error('Embeddings have the form of their caller.');
      // Joined as text, because it may be megabytes.
      return `{"model":${JSON.stringify(providerModel)},${bodyOf(native.text).slice(1)}`;
    },
    completionOf,
    cutCompletionOf: tooLarge,
    readerOf: neverStreamed,
  });
  return { complete, stream: neverStreamed };
}

function asItIs(text: string): string {
  return text;
}

function completionOf(answer: unknown, call: ProviderCall): Completion {
  checkForError(answer); // Some providers send errors with status 200.
  const { data, usage } = isJsonObject(answer) ? { data: answer['data'], usage: reportIn(answer) } : {};
  return completionOfVectors(data, inputAlone(usage), call);
}
