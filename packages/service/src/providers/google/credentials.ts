import { readFile } from 'node:fs/promises';
import type { AuthClient, ExternalAccountClientOptions, gaxios } from 'google-auth-library';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { AccessToken } from '#providers/google/access-tokens.ts';
import { GOOGLE_TOKEN_URI, tokenFetch } from '#providers/google/token-transport.ts';
import { UpstreamError } from '#providers/provider.ts';
import type { VendorHttp } from '#providers/vendor-fetch.ts';

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform'];

interface CredentialsOptions {
  readonly http: VendorHttp;
  readonly readEnvironment: (name: string) => string | undefined;
  readonly project: string;
  /** The JSON of a service account or of a workload identity. Undefined: what Google's libraries find in the environment. */
  readonly credentialsFile: string | undefined;
}

/**
 * Gets one access token. The file is read each time, so one that was replaced counts from the next renewal on. Throws an
 * `UpstreamError`: `unauthorized` if the credentials cannot be read or were refused, else `outage`.
 */
export async function fetchAccessToken(options: CredentialsOptions): Promise<AccessToken> {
  const client = await openClient(options);
  try {
    const { token } = await client.getAccessToken();
    if (typeof token === 'string') return { token, expiresAt: client.credentials.expiry_date ?? 0 };
  } catch (fault) {
    throw failureOf(fault);
  }
  throw new UpstreamError('outage', 'The token endpoint answered without a token.');
}

async function openClient({ http, readEnvironment, project, credentialsFile }: CredentialsOptions): Promise<AuthClient> {
  // Imported when it is first needed: most processes never call Vertex.
  const library = await import('google-auth-library');
  const file = credentialsFile ?? readEnvironment('GOOGLE_APPLICATION_CREDENTIALS');
  const definition = file === undefined ? undefined : await readDefinition(file);
  const tokenUri = String(definition?.['token_uri'] ?? GOOGLE_TOKEN_URI);
  const fetchImplementation = tokenFetch(http, tokenUri);
  // A call that waits for a token must not wait for retries too. The next call tries again.
  const transporter = new library.gaxios.Gaxios({ fetchImplementation, retryConfig: { retry: 0 } });
  if (definition === undefined) {
    // Without the project, the library would start `gcloud` to find it.
    return new library.GoogleAuth({ projectId: project, scopes: SCOPES, clientOptions: { transporter } }).getClient();
  }
  switch (definition['type']) {
    case 'service_account':
      return new library.JWT({
        email: textOf(definition, 'client_email'),
        key: textOf(definition, 'private_key'),
        scopes: SCOPES,
        additionalClaims: { aud: tokenUri },
        transporter,
      });
    case 'external_account':
      return workloadClient(library, definition, transporter);
    default:
      throw unusable('is neither of a service account nor of a workload identity');
  }
}

function workloadClient(
  { ExternalAccountClient }: typeof import('google-auth-library'),
  definition: JsonObject,
  transporter: gaxios.Gaxios,
): AuthClient {
  const client = ExternalAccountClient.fromJSON({
    // The library checks these fields itself.
    ...(definition as unknown as ExternalAccountClientOptions),
    scopes: SCOPES,
    transporter,
  });
  if (client === null) throw unusable('is not of a workload identity');
  // The library gives the exchange of tokens an HTTP client of its own.
  const exchange: unknown = Reflect.get(client, 'stsCredential');
  if (typeof exchange === 'object' && exchange !== null) Object.assign(exchange, { transporter });
  return client;
}

async function readDefinition(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) throw unusable('cannot be read');
  const definition = parseJson(text);
  if (!isJsonObject(definition)) throw unusable('is not JSON');
  return definition;
}

function textOf(definition: JsonObject, name: string): string {
  const value = definition[name];
  if (typeof value !== 'string' || value === '') throw unusable(`has no \`${name}\``);
  return value;
}

function unusable(why: string): UpstreamError {
  return new UpstreamError('unauthorized', `The credentials file ${why}.`);
}

/** Statuses by which a token endpoint refuses credentials. Others, and no answer at all, are its own trouble. */
const REFUSALS = new Set<unknown>([400, 401, 403, 404]);

/** The library's errors may hold what was sent, so none of them is kept as a cause. */
function failureOf(fault: unknown): UpstreamError {
  for (let one = fault; one instanceof Error; one = one.cause) {
    if (one instanceof UpstreamError) return one;
    const response: unknown = Reflect.get(one, 'response');
    if (typeof response !== 'object' || response === null) continue;
    const status: unknown = Reflect.get(response, 'status');
    if (!REFUSALS.has(status)) return new UpstreamError('outage', `The token endpoint failed (${String(status)}).`);
    return new UpstreamError('unauthorized', `The token endpoint refused our credentials (${String(status)}).`);
  }
  // Nothing was sent: a key that is none, or a workload whose own token cannot be read.
  return new UpstreamError('unauthorized', 'The credentials cannot be used.');
}
