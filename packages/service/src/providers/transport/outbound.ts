import { createHttpClient, type HttpClient, proxiesOf } from '@purser/upstream-http/client.ts';

/** Variables of the environment, of which `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` count. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The client for providers, through the proxies of the environment. */
export function createOutboundClient(environment: Environment): HttpClient {
  return createHttpClient({ findProxy: proxiesOf(environment) });
}

/** What is wrong with the proxies of the environment, in words that hold none of their addresses. */
export function proxyFault(environment: Environment): string | undefined {
  try {
    proxiesOf(environment);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : 'A proxy of the environment cannot be used.';
  }
}
