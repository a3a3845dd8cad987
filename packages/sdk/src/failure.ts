import { isPurserError, PaymentRequiredError } from './errors.ts';
import type { PaymentCode } from './wire.ts';

type Bag = Readonly<Record<string, unknown>>;

const PAYMENT_CODES: readonly unknown[] = [
  'PAYMENT_REQUIRED',
  'APP_SPEND_CAP_EXCEEDED',
  'WALLET_SUSPENDED',
] satisfies PaymentCode[];
const MESSAGE = 'Payment is required.';
/** Clients wrap errors in errors of their own, seldom deeper than this. */
const DEPTH_MAX = 5;

/** The fields of the service's error envelope that were present. */
export interface Failure {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly topupUrl?: string | undefined;
}

/** Reads an answer's body: `{ error: { ... }, topupUrl? }`. */
export function readFailure(answer: string): Failure {
  let body: Bag = {};
  try {
    body = bagOf(JSON.parse(answer));
  } catch {
    // The answer does not come from the service.
  }
  return failureOfBody(body);
}

function failureOfBody(body: Bag): Failure {
  const failure = failureIn(bagOf(body['error']));
  return { ...failure, topupUrl: text(body['topupUrl']) ?? failure.topupUrl };
}

function failureIn(fields: Bag): Failure {
  const { code, message, correlationId, topupUrl } = fields;
  return { code: text(code), message: text(message), correlationId: text(correlationId), topupUrl: text(topupUrl) };
}

/**
 * Finds the `PaymentRequiredError` behind an error of a chat client. Undefined if the error is about something else. Use it
 * where `guard` cannot catch anything, such as the `onError` of a stream.
 */
export function asPaymentRequired(error: unknown): PaymentRequiredError | undefined {
  return search(error, 0);
}

function search(error: unknown, depth: number): PaymentRequiredError | undefined {
  if (isPurserError(error, 'PaymentRequiredError')) return error;
  const raised = bagOf(error);
  if (error === raised) {
    const failure = failureOf(raised);
    // Other services answer with a 402 too, a payment processor for one. Only ours names a correlation id or a link.
    const isOurs = [failure.correlationId, failure.topupUrl].some((mark) => mark !== undefined);
    const status = isOurs ? (raised['status'] ?? raised['statusCode']) : undefined;
    const found = paymentRequired(status, failure);
    if (found !== undefined || depth === DEPTH_MAX) return found;
    for (const inner of ['cause', 'lastError', 'error']) {
      const deeper = search(raised[inner], depth + 1);
      if (deeper !== undefined) return deeper;
    }
  }
  return undefined;
}

/** Accepts the status 402 or one of its codes: in the middle of a stream, an error has no status or an invented one. */
export function paymentRequired(status: unknown, failure: Failure): PaymentRequiredError | undefined {
  const isKnown = PAYMENT_CODES.includes(failure.code);
  if (status !== 402 && !isKnown) return undefined;
  const { message = MESSAGE, correlationId = '', topupUrl } = failure;
  const code = isKnown ? (failure.code as PaymentCode) : 'PAYMENT_REQUIRED';
  return new PaymentRequiredError({ code, message, correlationId, topupUrl });
}

/**
 * Reads the envelope from a client's error. `openai` and LangChain keep the inner `error`, Anthropic's client keeps the whole
 * body as `error`, and the AI SDK keeps its text. All keep the headers, each in its own way.
 */
function failureOf(raised: Bag): Failure {
  const { responseBody, headers, responseHeaders } = raised;
  const outer = failureIn(raised);
  const kept = bagOf(raised['error']);
  const read = 'error' in kept ? failureOfBody : failureIn;
  const inner = typeof responseBody === 'string' ? readFailure(responseBody) : read(kept);
  const header = (name: string) => headerOf(headers ?? responseHeaders, name);
  return {
    code: inner.code ?? outer.code,
    message: inner.message ?? outer.message,
    correlationId: inner.correlationId ?? outer.correlationId ?? header('x-correlation-id'),
    topupUrl: inner.topupUrl ?? outer.topupUrl ?? header('x-service-topup-url'),
  };
}

function headerOf(headers: unknown, name: string): string | undefined {
  const { get } = bagOf(headers);
  return text(typeof get === 'function' ? get.call(headers, name) : bagOf(headers)[name]);
}

function bagOf(value: unknown): Bag {
  return typeof value === 'object' && value !== null ? (value as Bag) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
