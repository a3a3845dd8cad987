import { type Clock, systemClock } from '#kernel/time/clock.ts';
import { awsTransport } from '#providers/bedrock/aws-transport.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

interface CredentialPlace {
  readonly region: string;
  readonly roleArn?: string | undefined;
}

/** The credentials for a call. */
export type FindCredentials = () => Promise<AwsCredentials>;

type CredentialHttp = Pick<VendorHttp, 'requestCredentials'>;

/** Credentials with less than this left are renewed while calls still use them. */
const RENEW_MS = 5 * 60_000;
/** A call must not be signed with credentials that end on the way, and clocks differ. */
const SAFE_MS = 30_000;
/** After a renewal that failed while the old credentials are still good, the next try waits for this long. */
const RETRY_MS = 5_000;

/**
 * Credentials from the environment's usual chain (variables, profile, web identity, container, instance), and those of a role if
 * one is named. They are renewed before they end, by one look-up for all calls. Rejects with an `UpstreamError` if there are none.
 */
export function createCredentials(
  place: CredentialPlace,
  http: CredentialHttp,
  clock: Clock = systemClock,
): FindCredentials {
  let find: Promise<() => Promise<AwsCredentials>> | undefined;
  let kept: AwsCredentials | undefined;
  let fetching: Promise<AwsCredentials> | undefined;
  let nextTryAt = 0;

  async function fetch(): Promise<AwsCredentials> {
    try {
      find ??= finderOf(place, http);
      kept = await (await find)();
      return kept;
    } catch (fault) {
      throw failureOf(fault);
    } finally {
      fetching = undefined;
    }
  }

  function renew(): Promise<AwsCredentials> {
    fetching ??= fetch();
    return fetching;
  }

  return async () => {
    if (kept === undefined) return renew();
    const left = (kept.expiration?.getTime() ?? Infinity) - clock.nowMs();
    if (left < SAFE_MS) return renew();
    if (left < RENEW_MS && fetching === undefined && clock.nowMs() >= nextTryAt) {
      // If the failure lasts, a call of the next minutes meets it.
      renew().catch(() => (nextTryAt = clock.nowMs() + RETRY_MS));
    }
    return kept;
  };
}

async function finderOf({ region, roleArn }: CredentialPlace, http: CredentialHttp) {
  const { fromNodeProviderChain, fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
  const requestHandler = awsTransport(http.requestCredentials);
  // The region is that of the parent: given to the clients themselves, it would replace the region of a profile's SSO. A profile with
  // a web identity takes its transport from the parent too.
  const parentClientConfig = { region, requestHandler };
  const masterCredentials = fromNodeProviderChain({ clientConfig: { requestHandler }, parentClientConfig });
  if (roleArn === undefined) return () => masterCredentials();
  const params = { RoleArn: roleArn, RoleSessionName: 'purser' };
  const clientConfig = { region, requestHandler };
  const assumed = fromTemporaryCredentials({ masterCredentials, params, clientConfig });
  return () => assumed();
}

/** The library's errors quote answers of Amazon, so none of them is kept as a cause (ER-03). */
function failureOf(fault: unknown): UpstreamError {
  if (fault instanceof UpstreamError) return fault;
  const isServerFault = fault instanceof Error && Reflect.get(fault, '$fault') === 'server';
  if (isServerFault) return new UpstreamError('outage', 'The service that gives AWS credentials failed.');
  const name = fault instanceof Error && /^\w{1,64}$/.test(fault.name) ? ` (${fault.name})` : '';
  return new UpstreamError('unauthorized', `No AWS credentials could be had${name}.`);
}
