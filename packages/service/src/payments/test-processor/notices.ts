import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '#kernel/clock.ts';
import { equalBytes, hmacSha256 } from '#kernel/crypto.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { Notice } from '#payments/processor.ts';

/** The header that carries the signature: `t=<unix s>,v1=<hex>`. */
const TEST_SIGNATURE_HEADER = 'purser-test-signature';

const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
const AGE_SECONDS_MAX = 300;

/** A notice as it is sent. */
interface SignedNotice {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs a notice: HMAC-SHA256 of the second, a dot and the body. */
export function signNotice(key: Buffer, clock: Clock, notice: Notice): SignedNotice {
  const { noticeId: id, type, processorPayment: payment } = notice;
  const body = Buffer.from(JSON.stringify({ id, type, payment }));
  const seconds = Math.floor(clock.nowMs() / 1_000);
  const signature = hmacSha256(key, `${seconds}.`, body).toString('hex');
  return {
    body,
    headers: { 'content-type': 'application/json', [TEST_SIGNATURE_HEADER]: `t=${seconds},v1=${signature}` },
  };
}

/** Reads a notice that was signed under this key within five minutes. */
export function readSignedNotice(
  key: Buffer,
  clock: Clock,
  body: Buffer,
  headers: IncomingHttpHeaders,
): Notice | Refusal<'BAD_REQUEST'> {
  const [, seconds = '', shown = ''] = SIGNATURE.exec(String(headers[TEST_SIGNATURE_HEADER])) ?? [];
  const isSigned = equalBytes(Buffer.from(shown, 'hex'), hmacSha256(key, `${seconds}.`, body));
  const ageSeconds = clock.nowMs() / 1_000 - Number(seconds);
  if (!isSigned || Math.abs(ageSeconds) > AGE_SECONDS_MAX) {
    return refuse('BAD_REQUEST', 'The signature is not the test processor’s, or it is too old.');
  }
  // Signed by us, above.
  const { id, type, payment } = JSON.parse(body.toString('utf8')) as Readonly<Record<string, string>>;
  return { noticeId: String(id), type: String(type), processorPayment: String(payment) };
}
