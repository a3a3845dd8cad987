import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './wire.ts';

const FRESH_SECONDS = 300;

export interface Delivery {
  /** The raw body, byte for byte. A body that a framework has parsed and serialised again has another signature. */
  readonly body: string | ArrayBuffer | Uint8Array;
  /** The header `x-service-signature`. */
  readonly signature: string | null | undefined;
  /** The whole signing secret, with its `whsec_`. Several while you replace it: one of them must fit. */
  readonly secret: string | readonly string[];
  /** How far the time of the signature may be from now. The default is 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The current time, for tests. */
  readonly nowSeconds?: number | undefined;
}

/**
 * Checks the signature of a delivery and returns its event. The same event may arrive again, even after you have answered
 * it, so process each `id` once. Throws `WebhookVerificationError`.
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { body, signature, secret, toleranceSeconds = FRESH_SECONDS, nowSeconds } = delivery;
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0 || !secrets.every(isSecret)) throw new TypeError('`secret` is missing.');
  const { seconds, digest } = parse(signature ?? '');
  const raw = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  // All are tried, so that the time does not reveal which one fits.
  const matches = await Promise.all(secrets.map(async (one) => isSame(await digestOf(one, seconds, raw), digest)));
  if (!matches.includes(true)) {
    throw new WebhookVerificationError(
      'signature',
      'This was not signed with this secret, or the body is not the raw one.',
    );
  }
  if (!(Math.abs((nowSeconds ?? Date.now() / 1_000) - Number(seconds)) <= toleranceSeconds)) {
    throw new WebhookVerificationError('stale', `This was signed more than ${toleranceSeconds} seconds from now.`);
  }
  return eventOf(raw);
}

function isSecret(secret: unknown): secret is string {
  return typeof secret === 'string' && secret !== '';
}

/** Reads `t` and `v1` in any order and ignores other elements, so that a later scheme can be added as `v2`. */
function parse(header: string): { readonly seconds: string; readonly digest: string } {
  const found = new Map<string, string>();
  for (const element of header.split(',')) {
    const [name = '', value = ''] = element.trim().split(/=(.*)/s);
    found.set(name, found.has(name) ? '' : value); // A repeated element is ambiguous, so it counts as missing.
  }
  const seconds = found.get('t') ?? '';
  const digest = found.get('v1') ?? '';
  if (!/^\d{1,15}$/.test(seconds) || digest === '') {
    throw new WebhookVerificationError('header', 'The header `x-service-signature` is missing or malformed.');
  }
  return { seconds, digest };
}

async function digestOf(secret: string, seconds: string, body: Uint8Array): Promise<string> {
  const utf8 = new TextEncoder();
  const head = utf8.encode(`${seconds}.`);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  const { subtle } = crypto;
  const key = await subtle.importKey('raw', utf8.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const digest = new Uint8Array(await subtle.sign('HMAC', key, message));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Compares in constant time, so that the time does not reveal how much of a forged signature is right. */
function isSame(expected: string, given: string): boolean {
  let difference = expected.length ^ given.length;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index); // NaN is 0 here; the lengths differ then.
  }
  return difference === 0;
}

function eventOf(raw: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(raw)) as WebhookEvent;
    const { id, type, data } = event;
    if (typeof id === 'string' && typeof type === 'string' && typeof data === 'object' && (data as unknown))
      return event;
  } catch {
    // Reported below.
  }
  throw new WebhookVerificationError('body', 'This is signed, but not an event.');
}

export interface TestDelivery {
  readonly secret: string;
  /** When the delivery was signed, in seconds since 1970. The default is now. */
  readonly seconds?: number | undefined;
  /** The number of the attempt, 1 to 6. The default is 1. */
  readonly attempt?: number | undefined;
}

/** Returns the body and headers of a delivery as the service would send it, to test an endpoint with. */
export async function signTestPayload(
  event: WebhookEvent,
  { secret, seconds = Math.floor(Date.now() / 1_000), attempt = 1 }: TestDelivery,
): Promise<{ body: string; headers: Record<string, string> }> {
  const body = JSON.stringify(event);
  const digest = await digestOf(secret, String(seconds), new TextEncoder().encode(body));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'service-webhooks/1',
    'x-service-event-id': event.id,
    'x-service-event-type': event.type,
    'x-service-delivery-attempt': String(attempt),
    'x-service-signature': `t=${seconds},v1=${digest}`,
  };
  return { body, headers };
}
