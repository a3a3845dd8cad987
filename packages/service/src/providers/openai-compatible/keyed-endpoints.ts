import type { Endpoint, HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';

/** Heads that are kept for models with addresses of their own. An operator has far fewer. */
const ENDPOINTS_MAX = 1_000;

interface KeyedEndpointsOptions {
  readonly http: HttpClient;
  /** Where calls of a model go. */
  readonly urlOf: (providerModel: string) => URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeySource | undefined;
  /** The header of a key that is no token, which holds the key alone. If it is undefined, the key is sent in `authorization`, as a token. */
  readonly keyHeader?: string | undefined;
}

interface KeyedEndpoints {
  /** The endpoint of a model, whose head has the present key. */
  readonly endpointOf: (providerModel: string) => Endpoint | Promise<Endpoint>;
  /** The provider has refused the key. */
  readonly refused: () => void;
}

/** The endpoints of a provider. The head of each is built once for each key, and not for each call. */
export function createKeyedEndpoints(options: KeyedEndpointsOptions): KeyedEndpoints {
  const { http, urlOf, headers, key, keyHeader } = options;
  const built = new Map<string, Endpoint>();
  let builtFor: string | undefined;

  function keyed(text: string | undefined): Readonly<Record<string, string>> {
    if (text === undefined) return headers;
    const isAlone = keyHeader !== undefined && key?.isToken === false;
    return { ...headers, ...(isAlone ? { [keyHeader]: text } : { authorization: `Bearer ${text}` }) };
  }

  function endpointWith(text: string | undefined, providerModel: string): Endpoint {
    if (text !== builtFor || built.size >= ENDPOINTS_MAX) built.clear();
    builtFor = text;
    const known = built.get(providerModel);
    if (known !== undefined) return known;
    const endpoint = http.endpoint(urlOf(providerModel), keyed(text));
    built.set(providerModel, endpoint);
    return endpoint;
  }

  return {
    endpointOf: (providerModel) => {
      const current = key?.current();
      if (current === undefined || typeof current === 'string') return endpointWith(current, providerModel);
      return current.then((text) => endpointWith(text, providerModel));
    },
    refused: () => {
      if (builtFor !== undefined) key?.refused(builtFor);
    },
  };
}
