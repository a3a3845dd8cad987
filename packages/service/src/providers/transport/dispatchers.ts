import type { Dispatcher } from 'undici';
import { proxiesOf } from '@purser/upstream-http/client.ts';

/** The connections of undici for the libraries of vendors. They take the same ways out as our own client's. */
export interface Dispatchers {
  /** Returns connections through the proxy that leads to a URL, or direct ones. */
  readonly leadingTo: (url: URL) => Dispatcher;
  readonly close: () => Promise<void>;
}

/** Callers have timeouts of their own. */
const OPTIONS = { headersTimeout: 0, bodyTimeout: 0, allowH2: false } as const;

/** Loads undici, which takes 10 MB. */
export async function loadDispatchers(environment: Readonly<Record<string, string | undefined>>): Promise<Dispatchers> {
  const { Agent, ProxyAgent } = await import('undici');
  // Undici reads the variables too, but by other rules: our client covers the hosts below an excepted one, and its own machine.
  const findProxy = proxiesOf(environment);
  const direct = new Agent(OPTIONS);
  const proxies = new Map<string, Dispatcher>();

  function proxyAt(uri: string, authorization: string | undefined): Dispatcher {
    const known = proxies.get(uri);
    if (known !== undefined) return known;
    const token = authorization === undefined ? {} : { token: authorization };
    const proxy = new ProxyAgent({ ...OPTIONS, uri, ...token, proxyTunnel: true });
    proxies.set(uri, proxy);
    return proxy;
  }

  return {
    leadingTo: (url) => {
      const proxy = findProxy(url);
      if (proxy === undefined) return direct;
      const { isTls, host, port, authorization } = proxy;
      const name = host.includes(':') ? `[${host}]` : host;
      return proxyAt(`${isTls ? 'https' : 'http'}://${name}:${port}`, authorization);
    },
    close: async () => {
      await Promise.all([direct, ...proxies.values()].map((one) => one.close()));
    },
  };
}
