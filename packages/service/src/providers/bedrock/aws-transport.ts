import type { CredentialAnswer, CredentialRequest } from '#providers/transport/credential-request.ts';

/** A request of Amazon's libraries, as their `HttpHandler` takes it. */
interface AwsRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * The transport of Amazon's clients for STS, SSO and sign-in: our HTTP, with its proxies and limits. Amazon's own uses no proxies.
 * The metadata services are not asked by it: the library reaches those directly.
 */
export function awsTransport(send: (request: CredentialRequest) => Promise<CredentialAnswer>) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async ({ method, headers, body, ...place }: AwsRequest) => {
      const answer = await send({ url: urlOf(place), method, headers, body: contentOf(body) });
      return { response: { statusCode: answer.status, headers: answer.headers, body: answer.body } };
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
    destroy: () => {},
  };
}

function urlOf({
  protocol,
  hostname,
  port,
  path,
  query = {},
}: Omit<AwsRequest, 'method' | 'headers' | 'body'>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one ?? '')}`),
  );
  const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

function contentOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new Error('The library for AWS credentials sent a body that is neither text nor bytes.');
}
