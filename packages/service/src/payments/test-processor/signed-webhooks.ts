import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '#kernel/time/clock.ts';
import { hmacSha256 } from '#kernel/crypto/crypto.ts';
import { keyOfProof, type ProofKeys } from '#kernel/crypto/keys.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { ProcessorEvent } from '#payments/processor/processor.ts';

/** The header that carries the signature: `t=<unix s>,v1=<hex>`. */
const TEST_SIGNATURE_HEADER = 'purser-test-signature';

/** One scheme only: we both sign and check, so there is nothing to stay compatible with. */
const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
const AGE_SECONDS_MAX = 300;

/** A webhook as it is sent. */
interface SignedWebhook {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs the webhook of an event: HMAC-SHA256 of the time in seconds, a dot and the body. */
export function signWebhook([key]: ProofKeys, clock: Clock, event: ProcessorEvent): SignedWebhook {
  const { eventId: id, type, processorPayment: payment } = event;
  const body = Buffer.from(JSON.stringify({ id, type, payment }));
  const seconds = Math.floor(clock.nowMs() / 1_000);
  const signature = hmacSha256(key, `${seconds}.`, body).toString('hex');
  return {
    body,
    headers: { 'content-type': 'application/json', [TEST_SIGNATURE_HEADER]: `t=${seconds},v1=${signature}` },
  };
}

/** Reads a webhook that was signed under one of these keys, at most five minutes before or after now. Refuses any other. */
export function readSignedWebhook(
  keys: ProofKeys,
  clock: Clock,
  body: Buffer,
  headers: IncomingHttpHeaders,
): ProcessorEvent | Refusal<'BAD_REQUEST'> {
  const [, seconds = '', shown = ''] = SIGNATURE.exec(String(headers[TEST_SIGNATURE_HEADER])) ?? [];
  const isSigned = keyOfProof(keys, Buffer.from(shown, 'hex'), `${seconds}.`, body) !== undefined;
  const ageSeconds = clock.nowMs() / 1_000 - Number(seconds);
  if (!isSigned || Math.abs(ageSeconds) > AGE_SECONDS_MAX) {
    return refuse('BAD_REQUEST', 'The signature is not a recent one of the test processor.');
  }
  // Unchecked fields are safe here: the signature shows that this service wrote the body.
  const { id, type, payment } = JSON.parse(body.toString('utf8')) as Readonly<Record<string, string>>;
  return { eventId: String(id), type: String(type), processorPayment: String(payment) };
}
