import { hmacSha256 } from '#kernel/crypto/crypto.ts';

/**
 * The signature of a delivery: `t=<unix s>,v1=<hex>`. `v1` is the HMAC-SHA256 of `t`, a dot and the body. The key is the
 * whole secret including its prefix, so that receivers can use the text as they were given it (WH-09, WH-10). Signing the
 * time lets receivers refuse old deliveries.
 */
export function signatureOf(secret: string, seconds: number, body: Buffer): string {
  const digest = hmacSha256(Buffer.from(secret, 'utf8'), `${seconds}.`, body);
  return `t=${seconds},v1=${digest.toString('hex')}`;
}
