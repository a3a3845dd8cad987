import type { Endpoint, HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';

interface KeyedEndpointOptions {
  readonly http: HttpClient;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeySource | undefined;
  /** The header of a key that is no token, which holds the key alone. Undefined: `authorization`, as a token. */
  readonly keyHeader: string | undefined;
}

interface KeyedEndpoint {
  /** The endpoint whose head has the present key. */
  readonly endpoint: () => Endpoint | Promise<Endpoint>;
  /** The provider has refused the key. */
  readonly refused: () => void;
}

/** An endpoint of a provider. Its head is built once for each key, and not for each call. */
export function createKeyedEndpoint(options: KeyedEndpointOptions): KeyedEndpoint {
  const { http, url, headers, key, keyHeader } = options;
  if (key === undefined) {
    const endpoint = http.endpoint(url, headers);
    return { endpoint: () => endpoint, refused: () => {} };
  }
  let built: { readonly text: string; readonly endpoint: Endpoint } | undefined;

  function endpointWith(text: string): Endpoint {
    if (built?.text !== text) {
      const isAlone = keyHeader !== undefined && key?.isToken === false;
      const header = isAlone ? { [keyHeader]: text } : { authorization: `Bearer ${text}` };
      built = { text, endpoint: http.endpoint(url, { ...headers, ...header }) };
    }
    return built.endpoint;
  }

  return {
    endpoint: () => {
      const current = key.current();
      return typeof current === 'string' ? endpointWith(current) : current.then(endpointWith);
    },
    refused: () => {
      if (built !== undefined) key.refused(built.text);
    },
  };
}
