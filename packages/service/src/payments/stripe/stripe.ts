import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import Stripe from 'stripe';
import type { Clock } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { payableIn, toMinorUnits } from '#payments/processor/amounts.ts';
import { CHECKOUT_NAME, REFUND_NAME } from '#payments/stripe/metadata-names.ts';
import type { Movement } from '#payments/processor/movement.ts';
import type { CheckoutOrder, ProcessorEvent, Processor, RefundOrder } from '#payments/processor/processor.ts';
import { listMovements } from '#payments/stripe/balance.ts';
import { payerPaymentOf, paymentOf, reportOf } from '#payments/stripe/report.ts';

export interface StripeSettings {
  readonly secretKey: string;
  /** The signing secret of the endpoint to which Stripe sends webhooks. */
  readonly webhookSecret: string;
  /** The address of the API. If it is undefined, it is Stripe's own address. */
  readonly apiBase: URL | undefined;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** There are fewer retries when a payer waits for the page: an error now is better than a page that hangs. */
const RETRIES_OF_A_PAYER = 1;
/** How long a checkout can be paid. */
const OPEN_SECONDS = 60 * 60;
/** How far a webhook's signature may be from our clock, in either direction. */
const TOLERANCE_SECONDS = 300;
/** Where checkout pages are, unless `apiBase` says otherwise. */
const CHECKOUT_ORIGIN = 'https://checkout.stripe.com';
/** With these statuses, Stripe refuses a refund for good. Anything else may succeed when it is repeated. */
const REFUSED_STATUS = new Set([400, 402]);

/** Makes Stripe as the payment processor (ON-03), with Checkout Sessions for paying, webhooks and refunds. */
export function createStripe(settings: StripeSettings, clock: Clock): Processor {
  const { secretKey, webhookSecret, apiBase } = settings;
  const stripe = new Stripe(secretKey, {
    telemetry: false,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    ...(apiBase === undefined ? {} : addressOf(apiBase)),
  });

  return {
    name: 'stripe',
    formTargets: apiBase === undefined ? [CHECKOUT_ORIGIN] : [CHECKOUT_ORIGIN, apiBase.origin],
    amountsIn: payableIn,
    openCheckout: (order) =>
      asked(async () => {
        // Our id is the idempotency key: a retry after a timeout finds the session that the first request made.
        const session = await stripe.checkout.sessions.create(sessionOf(order, clock.nowMs()), {
          idempotencyKey: order.checkoutId,
          maxNetworkRetries: RETRIES_OF_A_PAYER,
        });
        if (session.url === null) throw new Error('Stripe opened a checkout without an address.');
        return { processorCheckout: session.id, url: session.url };
      }),
    readWebhook: async (body, headers) => readWebhook(stripe, webhookSecret, { body, headers, clock }),
    lookUp: (payment) => asked(() => reportOf(stripe, payment)),
    lookUpCheckout: (checkout) =>
      asked(async () => {
        const payment = payerPaymentOf(await stripe.checkout.sessions.retrieve(checkout));
        return payment === undefined ? undefined : reportOf(stripe, payment);
      }),
    refund: (order) => asked(() => refund(stripe, order)),
    listMovements: (time) => listed(stripe, time),
  };
}

function addressOf({ hostname, port, protocol }: URL) {
  const scheme = protocol === 'http:' ? 'http' : 'https';
  return {
    host: hostname,
    port: port === '' ? (scheme === 'http' ? 80 : 443) : Number(port),
    protocol: scheme,
  } as const;
}

/** The session names no end user: the checkout's id is enough to find them here. */
function sessionOf(order: CheckoutOrder, nowMs: number) {
  const { checkoutId, amount, currency, appName, returnUrl, cancelUrl, email } = order;
  const metadata = { [CHECKOUT_NAME]: checkoutId };
  return {
    mode: 'payment',
    // Other methods may fail days after they succeeded, through movements that our reports do not contain.
    allowed_payment_method_types: ['card'],
    expires_at: Math.floor(nowMs / 1_000) + OPEN_SECONDS,
    submit_type: 'pay',
    client_reference_id: checkoutId,
    metadata,
    payment_intent_data: { metadata },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toMinorUnits(amount, currency),
          product_data: { name: `Top-up: ${appName}` },
        },
      },
    ],
    adaptive_pricing: { enabled: false }, // A payment in another currency could not be credited to the wallet.
    success_url: returnUrl,
    cancel_url: cancelUrl,
    ...(email === undefined ? {} : { customer_email: email }),
  } as const satisfies Stripe.Checkout.SessionCreateParams;
}

interface Received {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly clock: Clock;
}

function readWebhook(
  stripe: Stripe,
  secret: string,
  { body, headers, clock }: Received,
): ProcessorEvent | undefined | Refusal<'BAD_REQUEST'> {
  const signature = headers['stripe-signature'];
  if (typeof signature !== 'string' || isAhead(signature, clock) || !isUtf8(body)) return notOfProcessor();
  const text = body.toString('utf8'); // The library is lenient about bytes: it drops a byte order mark, for one.
  let event: Stripe.Event;
  try {
    event = stripe.webhooks.constructEvent(text, signature, secret, TOLERANCE_SECONDS, undefined, clock.nowMs());
  } catch {
    return notOfProcessor(); // Not signed by Stripe, too old, or not an event.
  }
  const processorPayment = paymentOf(event);
  return processorPayment === undefined ? undefined : { eventId: event.id, type: event.type, processorPayment };
}

/** Whether the signature is dated too far in the future. The library checks only for old ones. */
function isAhead(signature: string, clock: Clock): boolean {
  const seconds = [...signature.matchAll(/(?:^|,)t=(\d+)/g)].map(([, digits]) => Number(digits));
  return seconds.some((second) => second > clock.nowMs() / 1_000 + TOLERANCE_SECONDS);
}

function notOfProcessor(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The signature is not a recent one of the payment processor.', {
    param: 'stripe-signature',
  });
}

/** Asks for a refund. Our id is the idempotency key, so a repeat is the same refund. */
async function refund(
  stripe: Stripe,
  { refundId, processorPayment, amount, currency }: RefundOrder,
): Promise<'asked' | 'declined'> {
  const order = {
    payment_intent: processorPayment,
    amount: toMinorUnits(amount, currency),
    metadata: { [REFUND_NAME]: refundId },
  };
  try {
    await stripe.refunds.create(order, { idempotencyKey: refundId });
    return 'asked';
  } catch (fault) {
    const isRefused =
      (fault instanceof Stripe.errors.StripeInvalidRequestError || fault instanceof Stripe.errors.StripeCardError) &&
      REFUSED_STATUS.has(fault.statusCode ?? 0);
    if (isRefused) return 'declined';
    throw fault;
  }
}

/** Makes a request to Stripe. Every fault that leaves this file has gone through `discreet`. */
async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (fault) {
    throw discreet(fault);
  }
}

/** Lists movements page by page. A fault that it throws contains nothing secret. */
async function* listed(stripe: Stripe, time: Parameters<typeof listMovements>[1]): AsyncGenerator<Movement> {
  try {
    yield* listMovements(stripe, time);
  } catch (fault) {
    throw discreet(fault);
  }
}

/**
 * Strips a fault of the library down to its kind. Its message may contain part of a key or of a request, and faults are
 * logged.
 */
function discreet(fault: unknown): unknown {
  if (!(fault instanceof Stripe.errors.StripeError)) return fault;
  const { type, statusCode, code, requestId } = fault;
  return new Error(`The request to Stripe failed: ${[type, statusCode, code, requestId].filter(Boolean).join(' ')}.`);
}
