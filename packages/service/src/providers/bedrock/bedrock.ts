import { bedrockDialect } from '#providers/bedrock/dialect.ts';
import { createBedrockEmbeddings } from '#providers/bedrock/embeddings.ts';
import { type BedrockPlace, createOpenBedrock } from '#providers/bedrock/open.ts';
import { withEmbeddings } from '#providers/embeddings/with-embeddings.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider } from '#providers/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/vendor-fetch.ts';

/** Makes the provider of models at Bedrock. Its text and its embeddings are signed with the same credentials. */
export function createBedrock(place: BedrockPlace, http: VendorHttp, key: KeySource | undefined): Provider {
  const open = createOpenBedrock(place, http);
  const dialect = bedrockDialect(place, http, open);
  return withEmbeddings(
    createTranslated({ dialect, http, key }),
    createBedrockEmbeddings({ open, dialect, http, key }),
  );
}
