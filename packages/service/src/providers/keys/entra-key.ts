import type { EntraDefinition } from '@purser/contract/provider-keys.ts';
import { type SteadyClock, systemClock } from '#kernel/time/clock.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { createFetchedKey, type FetchedKey, KeyFault, keyIn } from '#providers/keys/fetched-key.ts';
import { readSmallFile } from '#providers/keys/file-key.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { requestToken } from '#providers/keys/token-request.ts';

/** The metadata service of Azure's machines. It is reached without a proxy. */
const MACHINE_AUTHORITY = 'http://169.254.169.254';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const RETRY_MS = 5_000;
/** A token is not used for its last minutes: clocks differ, and a call takes time to arrive. */
const LAST_MS = 120_000;

interface EntraKeyOptions {
  readonly name: string;
  readonly entra: EntraDefinition;
  readonly readEnvironment: (name: string) => string | undefined;
  /** The environment variables, for the proxies of requests and for the identity of the machine. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: SteadyClock;
}

type Registration = Exclude<EntraDefinition, { managedIdentity: true }>;
type MachineIdentity = Extract<EntraDefinition, { managedIdentity: true }>;

/** Tokens of Microsoft Entra, for Azure. */
export function createEntraKey(options: EntraKeyOptions): KeySource {
  const { name, entra, clock } = options;
  const fetch = async () =>
    tokenIn('managedIdentity' in entra ? await askMachine(entra, options) : await askAuthority(entra, options));
  return createFetchedKey({ name, isToken: true, fetch, intervalMs: RETRY_MS, clock });
}

async function askAuthority(entra: Registration, options: EntraKeyOptions): Promise<JsonObject> {
  const { tenant, client, authority, scope } = entra;
  const proof = await proofOf(entra, options);
  const url = new URL(`${authority.replace(/\/+$/, '')}/${tenant}/oauth2/v2.0/token`);
  const form = { grant_type: 'client_credentials', client_id: client, scope, ...proof };
  return requestToken({ url, form, environment: options.environment });
}

/** The secret of the client, or a token that the cluster signs for it and renews in its file. */
async function proofOf(entra: Registration, { readEnvironment }: EntraKeyOptions): Promise<Record<string, string>> {
  if ('assertionFile' in entra) {
    const assertion = keyIn(await readSmallFile(entra.assertionFile));
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
  }
  if ('secretFile' in entra) return { client_secret: keyIn(await readSmallFile(entra.secretFile)) };
  const secret = readEnvironment(entra.secretEnv);
  if (secret === undefined) throw new KeyFault(`the variable \`${entra.secretEnv}\` is not set`);
  return { client_secret: secret };
}

/** The identity of the machine: by the address in the environment of app services, or by the metadata service of virtual machines. */
async function askMachine({ client, scope }: MachineIdentity, { environment }: EntraKeyOptions): Promise<JsonObject> {
  const {
    IDENTITY_ENDPOINT: endpoint,
    IDENTITY_HEADER: secret,
    AZURE_POD_IDENTITY_AUTHORITY_HOST: authority = MACHINE_AUTHORITY,
  } = environment;
  const isAppService = endpoint !== undefined && secret !== undefined;
  const url = new URL(isAppService ? endpoint : `${authority}/metadata/identity/oauth2/token`);
  url.searchParams.set('api-version', isAppService ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', scope.replace(/\/\.default$/, ''));
  if (client !== undefined) url.searchParams.set('client_id', client);
  const headers: Record<string, string> = isAppService ? { 'x-identity-header': secret } : { metadata: 'true' };
  return requestToken({ url, headers, environment: undefined });
}

/**
 * Reads a token from an answer. `expires_in` says how many seconds it lives, `expires_on` when it ends. Machines send
 * them as texts.
 */
function tokenIn(answer: JsonObject): FetchedKey {
  const { access_token: key, expires_in: seconds, expires_on: end } = answer;
  if (typeof key !== 'string') throw new KeyFault('the answer to the request for a token has none');
  const lifeMs = seconds === undefined ? Number(end) * 1000 - systemClock.nowMs() : Number(seconds) * 1000;
  if (!(lifeMs > 0)) throw new KeyFault('the answer to the request for a token does not say how long it lives');
  return { key, lifeMs: Math.max(lifeMs - LAST_MS, lifeMs / 2) };
}
