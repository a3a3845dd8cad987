import { createHash, createHmac } from 'node:crypto';
import type { VendorRequest } from './vendor.ts';

/** Credentials as AWS keeps them: the secret is known to both sides and never sent. */
export interface AwsAccount {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly region: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** What is wrong with the signature of a request to this service (Signature Version 4); undefined if it is right. */
export function signatureFault(request: VendorRequest, account: AwsAccount, wanted = 'bedrock'): string | undefined {
  const { headers, path, method, rawBody } = request;
  const match = AUTHORIZATION.exec(String(headers['authorization']));
  if (match === null) return 'MissingAuthenticationTokenException';
  const [, keyId, day = '', region = '', service = '', signed = '', signature] = match;
  const time = String(headers['x-amz-date']);
  if (keyId !== account.accessKeyId || headers['x-amz-security-token'] !== account.sessionToken) {
    return 'UnrecognizedClientException';
  }
  const names = signed.split(';');
  const isBound = names.includes('host') && region === account.region && service === wanted && time.startsWith(day);
  if (!isBound) return 'IncompleteSignatureException';
  const canonical = [
    method,
    // Every segment of the path is encoded once more than it is on the wire.
    path.split('/').map(encoded).join('/'),
    '',
    ...names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signed,
    digest(rawBody),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, digest(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${account.secretAccessKey}`);
  return hmac(key, text).toString('hex') === signature ? undefined : 'InvalidSignatureException';
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function digest(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
