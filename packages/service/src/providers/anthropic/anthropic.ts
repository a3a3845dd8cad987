import { anthropicUrls, byMessages, createNativeMessages } from '#providers/anthropic/native.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { lazyProvider } from '#providers/port/lazy.ts';
import type { Provider } from '#providers/port/provider.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface AnthropicOptions {
  readonly definition: { readonly baseUrl: string };
  /** For the vendor's library. */
  readonly http: VendorHttp;
  /** For what goes out as its caller wrote it. */
  readonly client: HttpClient;
  readonly key: KeySource | undefined;
}

/** Claude at its own vendor: passed through to callers of Messages, and translated for all others. */
export function createAnthropic({ definition, http, client, key }: AnthropicOptions): Provider {
  const urlsOf = anthropicUrls(definition.baseUrl);
  const translated = lazyProvider(async () => {
    const { anthropicDialect } = await import('#providers/anthropic/dialect.ts');
    return createTranslated({ dialect: anthropicDialect(definition), http, key });
  });
  return byMessages(translated, createNativeMessages({ http: client, key, keyHeader: 'x-api-key', urlsOf }));
}
