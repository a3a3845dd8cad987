import type { HttpClient } from '@purser/upstream-http/client.ts';
import { byMessages } from '#providers/anthropic/native.ts';
import { createBedrockClaude } from '#providers/bedrock/claude.ts';
import { createCredentials } from '#providers/bedrock/credentials.ts';
import { bedrockDialect } from '#providers/bedrock/dialect.ts';
import { createBedrockEmbeddings } from '#providers/bedrock/embeddings.ts';
import { type BedrockPlace, createOpenBedrock } from '#providers/bedrock/open.ts';
import { withEmbeddings } from '#providers/embeddings/with-embeddings.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider } from '#providers/port/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface BedrockOptions {
  readonly place: BedrockPlace;
  /** For the vendor's library. */
  readonly http: VendorHttp;
  /** For what goes out as its caller wrote it. */
  readonly client: HttpClient;
  readonly key: KeySource | undefined;
}

/** Makes the provider of models at Bedrock. All that it sends is signed with the same credentials. */
export function createBedrock({ place, http, client, key }: BedrockOptions): Provider {
  const credentials = createCredentials(place, http);
  const open = createOpenBedrock(place, http, credentials);
  const dialect = bedrockDialect(place, http, open);
  const text = byMessages(
    createTranslated({ dialect, http, key }),
    createBedrockClaude({ place, client, key, credentials }),
  );
  return withEmbeddings(text, createBedrockEmbeddings({ open, dialect, http, key }));
}
