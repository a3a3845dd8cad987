import { type Clock, systemClock } from '#kernel/clock.ts';
import { UpstreamError } from '#providers/provider.ts';

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

/** A call must not be signed with credentials that end on the way. */
const RENEW_MS = 5 * 60_000;

/**
 * Credentials from the environment's usual chain (variables, profile, web identity, container, instance), and those of a role if
 * one is named. They are kept until they are about to end. Rejects with an `UpstreamError` if there are none.
 */
export function createCredentials(place: CredentialPlace, clock: Clock = systemClock): () => Promise<AwsCredentials> {
  let kept: AwsCredentials | undefined;
  let fetching: Promise<AwsCredentials> | undefined;

  async function renew(): Promise<AwsCredentials> {
    try {
      kept = await (await providerOf(place))();
      return kept;
    } catch (fault) {
      throw new UpstreamError('unauthorized', 'No AWS credentials could be had.', { cause: fault });
    } finally {
      fetching = undefined;
    }
  }

  return () => {
    const isFresh = kept !== undefined && (kept.expiration?.getTime() ?? Infinity) - clock.nowMs() > RENEW_MS;
    if (kept !== undefined && isFresh) return Promise.resolve(kept);
    fetching ??= renew();
    return fetching;
  };
}

async function providerOf({ region, roleArn }: CredentialPlace): Promise<() => Promise<AwsCredentials>> {
  const { fromNodeProviderChain, fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
  const masterCredentials = fromNodeProviderChain({ clientConfig: { region } });
  if (roleArn === undefined) return () => masterCredentials();
  const params = { RoleArn: roleArn, RoleSessionName: 'purser' };
  const assumed = fromTemporaryCredentials({ masterCredentials, params, clientConfig: { region } });
  return () => assumed();
}
