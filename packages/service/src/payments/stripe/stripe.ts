import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import Stripe from 'stripe';
import type { Clock } from '#kernel/clock.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import { payableIn, toMinorUnits } from '#payments/amounts.ts';
import type { CheckoutOrder, Notice, Processor, RefundOrder } from '#payments/processor.ts';
import { CHECKOUT_NAME, payerPaymentOf, paymentOf, REFUND_NAME, reportOf } from '#payments/stripe/report.ts';

export interface StripeSettings {
  readonly secretKey: string;
  /** Of the endpoint to which its notices come. */
  readonly webhookSecret: string;
  /** Undefined: Stripe's own. */
  readonly apiBase: URL | undefined;
}

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** While somebody waits for a page. */
const RETRIES_OF_A_PAYER = 1;
/** How long a checkout can be paid. */
const OPEN_SECONDS = 60 * 60;
/** How old a notice may be, and how far ahead of our clock. */
const TOLERANCE_SECONDS = 300;
/** Where checkouts are, unless the API is somewhere else. */
const CHECKOUT_ORIGIN = 'https://checkout.stripe.com';
/** By which Stripe says that this will never be. */
const REFUSED_STATUS = new Set([400, 402]);

/** Stripe (ON-03): Checkout Sessions for paying, notices by its webhooks, refunds. */
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
        const session = await stripe.checkout.sessions.create(sessionOf(order, clock.nowMs()), {
          idempotencyKey: order.checkoutId,
          maxNetworkRetries: RETRIES_OF_A_PAYER,
        });
        if (session.url === null) throw new Error('Stripe opened a checkout that has no address.');
        return { processorCheckout: session.id, url: session.url };
      }),
    readNotice: async (body, headers) => readNotice(stripe, webhookSecret, { body, headers, clock }),
    lookUp: (payment) => asked(() => reportOf(stripe, payment)),
    lookUpCheckout: (checkout) =>
      asked(async () => {
        const payment = payerPaymentOf(await stripe.checkout.sessions.retrieve(checkout));
        return payment === undefined ? undefined : reportOf(stripe, payment);
      }),
    refund: (order) => asked(() => refund(stripe, order)),
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

/** Nothing names the end user: the checkout's id is enough to find him here. */
function sessionOf(order: CheckoutOrder, nowMs: number) {
  const { checkoutId, amount, currency, appName, returnUrl, cancelUrl, email } = order;
  const metadata = { [CHECKOUT_NAME]: checkoutId };
  return {
    mode: 'payment',
    allowed_payment_method_types: ['card'], // Others may fail days after they succeeded, by movements that no report here has.
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
    adaptive_pricing: { enabled: false }, // The payer pays in the currency of his wallet.
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

function readNotice(
  stripe: Stripe,
  secret: string,
  { body, headers, clock }: Received,
): Notice | undefined | Refusal<'BAD_REQUEST'> {
  const signature = headers['stripe-signature'];
  if (typeof signature !== 'string' || isAhead(signature, clock) || !isUtf8(body)) return noNotice();
  const text = body.toString('utf8'); // As text: of bytes the library forgives some.
  let event: Stripe.Event;
  try {
    event = stripe.webhooks.constructEvent(text, signature, secret, TOLERANCE_SECONDS, undefined, clock.nowMs());
  } catch {
    return noNotice(); // Not signed by Stripe, too old, or no notice at all.
  }
  const processorPayment = paymentOf(event);
  return processorPayment === undefined ? undefined : { noticeId: event.id, type: event.type, processorPayment };
}

/** The library looks at old ones only. */
function isAhead(signature: string, clock: Clock): boolean {
  const seconds = [...signature.matchAll(/(?:^|,)t=(\d+)/g)].map(([, digits]) => Number(digits));
  return seconds.some((second) => second > clock.nowMs() / 1_000 + TOLERANCE_SECONDS);
}

function noNotice(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The signature is not that of a fresh notice of the payment processor.', {
    param: 'stripe-signature',
  });
}

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

async function asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (fault) {
    throw discreet(fault);
  }
}

/** What the library says of a fault may hold parts of a key or of a request: only its kind is told. */
function discreet(fault: unknown): unknown {
  if (!(fault instanceof Stripe.errors.StripeError)) return fault;
  const { type, statusCode, code, requestId } = fault;
  return new Error(`Stripe could not be asked: ${[type, statusCode, code, requestId].filter(Boolean).join(' ')}.`);
}
