import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './wire.ts';

const FRESH_SECONDS = 300;

export interface Delivery {
  /** The body byte for byte as it came: what a framework has parsed and written anew has another signature. */
  readonly body: string | ArrayBuffer | Uint8Array;
  /** The header `x-service-signature`. */
  readonly signature: string | null | undefined;
  /** The whole signing secret, with its `whsec_`. */
  readonly secret: string;
  /** The time, for tests. */
  readonly nowSeconds?: number | undefined;
}

/**
 * Gives the event of a delivery that the service signed. An event may come again, also after it was answered: take each `id` once.
 * Throws `WebhookVerificationError`.
 */
export async function verifyWebhook({ body, signature, secret, nowSeconds }: Delivery): Promise<WebhookEvent> {
  if (typeof secret !== 'string' || secret === '') throw new TypeError('`secret` is missing.');
  const { seconds, digest } = parse(signature ?? '');
  const raw = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  if (!isSame(await digestOf(secret, seconds, raw), digest)) {
    throw new WebhookVerificationError(
      'signature',
      'This was not signed with this secret, or is not the body as it came.',
    );
  }
  if (!(Math.abs((nowSeconds ?? Date.now() / 1_000) - Number(seconds)) <= FRESH_SECONDS)) {
    throw new WebhookVerificationError('stale', `This was signed more than ${FRESH_SECONDS} seconds from now.`);
  }
  return eventOf(raw);
}

/** `t` and `v1` in any order, with others between them: a later scheme comes as `v2`. */
function parse(header: string): { readonly seconds: string; readonly digest: string } {
  const found = new Map<string, string>();
  for (const element of header.split(',')) {
    const [name = '', value = ''] = element.trim().split(/=(.*)/s);
    found.set(name, found.has(name) ? '' : value); // Twice: either could be meant.
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

/** Takes the same time for every position of the first difference. */
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
    if (typeof event.id === 'string' && typeof event.type === 'string' && typeof event.data === 'object') return event;
  } catch {
    // Told below.
  }
  throw new WebhookVerificationError('body', 'This is signed, but no event.');
}

export interface TestDelivery {
  readonly secret: string;
  /** When it was signed; now. */
  readonly seconds?: number | undefined;
  /** The first of six. */
  readonly attempt?: number | undefined;
}

/** Body and headers of a delivery as the service would send it, for the tests of an endpoint. */
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
