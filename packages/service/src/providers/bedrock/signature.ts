import { AwsV4Signer } from 'aws4fetch';
import type { FindCredentials } from '#providers/bedrock/credentials.ts';

interface Signed {
  readonly url: URL;
  readonly region: string;
  readonly body: string;
}

/** The headers that sign a request to Bedrock (Signature Version 4). */
export async function signatureOf(
  credentials: FindCredentials,
  { url, region, body }: Signed,
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
  const signer = new AwsV4Signer({
    method: 'POST',
    url: url.href,
    body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 'bedrock',
    region,
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}
