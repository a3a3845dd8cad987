import { hmacSha256 } from '#kernel/crypto.ts';

/**
 * The signature of a delivery: `t=<unix s>,v1=<hex>`, where v1 is the HMAC-SHA256 of `t`, a dot and the body under the whole
 * secret, its prefix included (WH-09, WH-10).
 */
export function signatureOf(secret: string, seconds: number, body: Buffer): string {
  const digest = hmacSha256(Buffer.from(secret, 'utf8'), `${seconds}.`, body);
  return `t=${seconds},v1=${digest.toString('hex')}`;
}
