import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { OpenBedrock } from '#providers/bedrock/open.ts';
import type { Completion } from '#providers/port/completion.ts';
import { askedOf } from '#providers/embeddings/embeddings-request.ts';
import { inParts } from '#providers/embeddings/in-parts.ts';
import { bedrockFamilyOf, vectorModelOf } from '#providers/models/embeddings.ts';
import { completionOfVectors, usageOfTokens } from '#providers/embeddings/vectors.ts';
import { neverStreamed } from '#providers/embeddings/with-embeddings.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { ANSWER_BYTES_MAX, type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { vendorFailureOf } from '#providers/dialect/failure.ts';
import { createTimer, tooSlow } from '#providers/transport/timer.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface BedrockEmbeddings {
  readonly open: OpenBedrock;
  readonly dialect: Dialect;
  readonly http: VendorHttp;
  readonly key: KeySource | undefined;
}

/** Embeddings of Bedrock's InvokeModel, by `@ai-sdk/amazon-bedrock`: Titan and Nova take one text a request, Cohere 96. */
export function createBedrockEmbeddings({ open, dialect, http, key }: BedrockEmbeddings): Provider {
  async function embed(call: ProviderCall, signal: AbortSignal): Promise<Completion> {
    const fetch = http.fetchFor({ bytesMax: ANSWER_BYTES_MAX, framing: dialect.framing, checkBody: () => {} });
    const text = await key?.current();
    const { texts, dimensions } = askedOf(call);
    try {
      const bedrock = await open({ fetch, key: text === undefined ? undefined : { text, isToken: true } });
      const { embeddings, usage } = await bedrock.embeddingModel(call.providerModel).doEmbed({
        values: [...texts],
        abortSignal: signal,
        providerOptions: optionsOf(call.providerModel, dimensions),
      });
      return completionOfVectors(
        embeddings.map((embedding) => ({ embedding })),
        usageOfTokens(usage?.tokens),
        call,
      );
    } catch (fault) {
      const failure = vendorFailureOf(dialect, fault);
      if (text !== undefined && failure instanceof UpstreamError && failure.status === 401) key?.refused(text);
      throw failure;
    }
  }

  const one: Provider = {
    stream: neverStreamed,
    complete: async (call) => {
      const timer = createTimer(call.timeoutMs);
      try {
        return await timer.within(embed(call, timer.signal));
      } catch (fault) {
        throw timer.isOver() ? tooSlow() : fault;
      } finally {
        timer.stop();
      }
    },
  };
  return inParts(one, (providerModel) => vectorModelOf('bedrock', providerModel).textsMax);
}

const DIMENSIONS = {
  'cohere-4': 'outputDimension',
  cohere: 'outputDimension',
  nova: 'embeddingDimension',
  'titan-1': 'dimensions',
  titan: 'dimensions',
} as const;

/** In the words of each family. A text that is too long is refused, and not cut in silence. */
function optionsOf(providerModel: string, dimensions: number | undefined): SharedV4ProviderOptions {
  const size = dimensions === undefined ? {} : { [DIMENSIONS[bedrockFamilyOf(providerModel)]]: dimensions };
  return { amazonBedrock: { ...size, inputType: 'search_document', truncate: 'NONE' } };
}
