import { type AmazonBedrockProvider, createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { bedrockAddress } from '@purser/contract/catalogue-providers.ts';
import { createCredentials, type FindCredentials } from '#providers/bedrock/credentials.ts';
import type { VendorKey } from '#providers/dialect/dialect.ts';
import type { VendorFetch, VendorHttp } from '#providers/transport/vendor-fetch.ts';

export interface BedrockPlace {
  readonly region: string;
  readonly roleArn?: string | undefined;
  readonly endpoint?: string | undefined;
}

/** Makes the library's provider for one call. Without a key, its request is signed. */
export type OpenBedrock = (call: {
  readonly fetch: VendorFetch;
  readonly key: VendorKey | undefined;
}) => Promise<AmazonBedrockProvider>;

export function createOpenBedrock(
  place: BedrockPlace,
  http: Pick<VendorHttp, 'requestCredentials'>,
  credentials: FindCredentials = createCredentials(place, http),
): OpenBedrock {
  const { region } = place;
  // Always given, because the library takes from the environment what is left out (MO-11).
  const baseURL = bedrockAddress(place);
  return async ({ fetch, key }) => {
    if (key !== undefined) return createAmazonBedrock({ region, baseURL, fetch, apiKey: key.text });
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
    const token = sessionToken === undefined ? {} : { sessionToken };
    const credentialProvider = () => Promise.resolve({ accessKeyId, secretAccessKey, ...token });
    // An empty key keeps the library from looking for one in the environment.
    return createAmazonBedrock({ region, baseURL, fetch, apiKey: '', credentialProvider });
  };
}
