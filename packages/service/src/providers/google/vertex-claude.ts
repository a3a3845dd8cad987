import type { HttpClient } from '@purser/upstream-http/client.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { anthropicDialect } from '#providers/anthropic/dialect.ts';
import { byMessages, createNativeMessages, type MessagesPlace } from '#providers/anthropic/native.ts';
import { codeOfBody, errorOfGoogle, failureKindOf } from '#providers/google/failures.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Provider } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import type { VendorFetch, VendorHttp } from '#providers/transport/vendor-fetch.ts';

const VERSION = 'vertex-2023-10-16';

interface VertexClaudeOptions {
  /** The address of the models of all publishers, up to and including the location. */
  readonly baseUrl: string;
  readonly http: VendorHttp;
  readonly client: HttpClient;
  readonly key: KeySource;
}

/** Claude on Vertex AI: Anthropic's own format, but for the address, which names the model, and the errors, which may be Google's. */
export function createVertexClaude({ baseUrl, http, client, key }: VertexClaudeOptions): Provider {
  const models = `${baseUrl}/publishers/anthropic/models`;
  const urlsOf: MessagesPlace['urlsOf'] = (providerModel) => {
    const model = encodeURIComponent(providerModel).replaceAll('%40', '@');
    return {
      plain: new URL(`${models}/${model}:rawPredict`),
      streamed: new URL(`${models}/${model}:streamRawPredict`),
      count: new URL(`${models}/count-tokens:rawPredict`),
    };
  };
  return byMessages(
    createTranslated({ http, key, dialect: claudeDialect(baseUrl, urlsOf) }),
    createNativeMessages({ http: client, key, version: VERSION, errorOf: errorOfGoogle, urlsOf }),
  );
}

function claudeDialect(baseUrl: string, urlsOf: MessagesPlace['urlsOf']): Dialect {
  const claude = anthropicDialect({ baseUrl });
  return {
    ...claude,
    kind: 'vertex',
    modelOf: (options) => {
      const { plain, streamed } = urlsOf(options.providerModel);
      return claude.modelOf({ ...options, fetch: rawPredict(options.fetch, { plain, streamed }) });
    },
    failureKindOf: (failure) => claude.failureKindOf(failure) ?? failureKindOf(failure),
    codeOf: (body, headers) => claude.codeOf(body, headers) ?? codeOfBody(body),
  };
}

/** What the library writes for Anthropic itself, as Vertex wants it. */
function rawPredict(
  fetch: VendorFetch,
  { plain, streamed }: { readonly plain: URL; readonly streamed: URL },
): VendorFetch {
  return (_input, init) => {
    const asked = typeof init?.body === 'string' ? parseJson(init.body) : undefined;
    if (!isJsonObject(asked)) throw new Error('The library for Claude sent a body that is no object.');
    const { model: _model, ...body } = asked;
    const url = body['stream'] === true ? streamed : plain;
    return fetch(url, { ...init, body: JSON.stringify({ anthropic_version: VERSION, ...body }) });
  };
}
