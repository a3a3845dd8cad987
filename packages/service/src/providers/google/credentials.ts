import { readFile } from 'node:fs/promises';
import {
  type AuthClient,
  ExternalAccountClient,
  type ExternalAccountClientOptions,
  gaxios,
  GoogleAuth,
  JWT,
} from 'google-auth-library';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { AccessToken } from '#providers/google/access-tokens.ts';
import { machineToken } from '#providers/google/machine-token.ts';
import { GOOGLE_TOKEN_URI, tokenFetch } from '#providers/google/token-transport.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform'];

interface CredentialsOptions {
  readonly http: VendorHttp;
  readonly project: string;
  /** The JSON of a service account or of a workload identity. If it is undefined, Google's libraries look for them in the environment. */
  readonly credentialsFile: string | undefined;
  /** The environment variables, which may name the host of Google's metadata server. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Gets one access token. The file is read each time, so one that was replaced counts from the next renewal on. Throws an
 * `UpstreamError`: `unauthorized` if the credentials cannot be read or were refused, else `outage`.
 */
export async function fetchAccessToken(options: CredentialsOptions): Promise<AccessToken> {
  const client = await openClient(options);
  if (client === undefined) return machineToken(options.http, options.environment, SCOPES);
  try {
    const { token } = await client.getAccessToken();
    if (typeof token === 'string') return { token, expiresAt: client.credentials.expiry_date ?? 0 };
  } catch (fault) {
    throw failureOf(fault);
  }
  throw new UpstreamError('outage', 'The token endpoint answered without a token.');
}

/** Returns undefined if no file has credentials, so that only the machine itself can have some. */
async function openClient({ http, project, credentialsFile }: CredentialsOptions): Promise<AuthClient | undefined> {
  const definition = credentialsFile === undefined ? undefined : await readDefinition(credentialsFile);
  const named = definition?.['token_uri'];
  const tokenUri = typeof named === 'string' ? named : GOOGLE_TOKEN_URI;
  const fetchImplementation = tokenFetch(http, tokenUri);
  // A call that waits for a token must not wait for retries too. The next call tries again.
  const transporter = new gaxios.Gaxios({ fetchImplementation, retryConfig: { retry: 0 } });
  const client = await clientOf(definition, { project, tokenUri, transporter });
  if (client === undefined) return undefined;
  // The library gives the exchange of a workload's token an HTTP client of its own.
  const exchange: unknown = Reflect.get(client, 'stsCredential');
  if (typeof exchange === 'object' && exchange !== null) Object.assign(exchange, { transporter });
  return client;
}

/** Finds the files that the environment names. The library asks for the machine last, and would do so by HTTP of its own. */
class FileAuth extends GoogleAuth {
  isWithoutFile = false;

  override _checkIsGCE(): Promise<boolean> {
    this.isWithoutFile = true;
    return Promise.resolve(false);
  }
}

interface ClientOptions {
  readonly project: string;
  readonly tokenUri: string;
  readonly transporter: gaxios.Gaxios;
}

async function clientOf(
  definition: JsonObject | undefined,
  { project, tokenUri, transporter }: ClientOptions,
): Promise<AuthClient | undefined> {
  if (definition === undefined) {
    // Without the project, the library would start `gcloud` to find it.
    const auth = new FileAuth({ projectId: project, scopes: SCOPES, clientOptions: { transporter } });
    return auth.getClient().catch((fault: unknown) => {
      if (auth.isWithoutFile) return undefined;
      throw failureOf(fault);
    });
  }
  if (definition['type'] === 'service_account') {
    return new JWT({
      email: textOf(definition, 'client_email'),
      key: textOf(definition, 'private_key'),
      scopes: SCOPES,
      additionalClaims: { aud: tokenUri },
      transporter,
    });
  }
  if (definition['type'] !== 'external_account') {
    throw unusable('is neither of a service account nor of a workload identity');
  }
  // The library checks these fields itself.
  const workload = definition as unknown as ExternalAccountClientOptions;
  const client = ExternalAccountClient.fromJSON({ ...workload, scopes: SCOPES, transporter });
  if (client === null) throw unusable('is not of a workload identity');
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
