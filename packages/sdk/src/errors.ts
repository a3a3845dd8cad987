import type { ErrorCode, PaymentCode } from './wire.ts';

/** Marks our errors across copies of the package: an app may load both the ES module and the CommonJS one. */
const MARK = Symbol.for('purser.error');

interface Fields<Code> {
  readonly code: Code;
  readonly correlationId: string;
  readonly message: string;
}

/**
 * A 402: the wallet cannot pay for the call. The call was not made and cost nothing.
 *
 * - `PAYMENT_REQUIRED`: no wallet, or too little in it. Send the user to `topupUrl`.
 * - `APP_SPEND_CAP_EXCEEDED`: the monthly cap that the user set is reached. `topupUrl`, if set, leads to the cap.
 * - `WALLET_SUSPENDED`: a bank took money back. There is no link, because paying does not help. The operator must act.
 */
export class PaymentRequiredError extends Error {
  declare readonly name: 'PaymentRequiredError';
  readonly status = 402;
  readonly code: PaymentCode;
  /**
   * The address where the user tops up. It is signed, for this user only, and valid for minutes. Give it to the user's
   * browser and keep it out of logs.
   */
  declare readonly topupUrl?: string; // `declare`: without a link, the error has no such property.
  /**
   * Identifies the call in the service's logs and receipts. Empty if the chat client dropped it, as the AI SDK does in the
   * middle of a stream.
   */
  readonly correlationId: string;

  constructor({
    code,
    message,
    correlationId,
    topupUrl,
  }: Fields<PaymentCode> & { readonly topupUrl?: string | undefined }) {
    super(message);
    mark(this, 'PaymentRequiredError');
    this.code = code;
    this.correlationId = correlationId;
    if (topupUrl !== undefined) this.topupUrl = topupUrl;
  }
}

/**
 * Thrown when `balance`, `connect` or `usageSummary` failed with something other than a 402. `code` says why:
 * `UNAUTHORIZED` (the key), `BAD_REQUEST` (the user or the redirect address), `APP_SUSPENDED`, `TOO_MANY_REQUESTS` and
 * `INTERNAL_SERVER_ERROR` (try again later). `UNKNOWN` means that the answer is not from Purser but from something in
 * between, such as a proxy.
 */
export class ServiceApiError extends Error {
  declare readonly name: 'ServiceApiError';
  readonly status: number;
  readonly code: ErrorCode | 'UNKNOWN';
  /** Identifies the call in the service's logs. */
  readonly correlationId: string;

  constructor({ status, code, message, correlationId }: Fields<ErrorCode | 'UNKNOWN'> & { readonly status: number }) {
    super(message);
    mark(this, 'ServiceApiError');
    this.status = status;
    this.code = code;
    this.correlationId = correlationId;
  }
}

/**
 * A delivery that must not be trusted. Answer it with a 400.
 *
 * - `header`: `x-service-signature` is missing or malformed.
 * - `signature`: the delivery was not signed with this secret, or the body is not the raw bytes that were sent. A framework
 *   that has parsed the body is the usual cause.
 * - `stale`: signed more than 300 seconds ago or in the future. Check the clock of this machine.
 * - `body`: signed, but not an event.
 */
export class WebhookVerificationError extends Error {
  declare readonly name: 'WebhookVerificationError';
  readonly reason: 'header' | 'signature' | 'stale' | 'body';

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message);
    mark(this, 'WebhookVerificationError');
    this.reason = reason;
  }
}

export type PurserError = PaymentRequiredError | ServiceApiError | WebhookVerificationError;

interface ByName {
  PaymentRequiredError: PaymentRequiredError;
  ServiceApiError: ServiceApiError;
  WebhookVerificationError: WebhookVerificationError;
}

/**
 * Whether an error comes from this package, or is of the named class. Unlike `instanceof`, it also recognises the errors of
 * another copy of the package.
 */
export function isPurserError(error: unknown): error is PurserError;
export function isPurserError<Name extends keyof ByName>(error: unknown, name: Name): error is ByName[Name];
export function isPurserError(error: unknown, name?: string): boolean {
  if (typeof error !== 'object' || error === null || !(MARK in error)) return false;
  return name === undefined || error[MARK] === name;
}

function mark(error: Error, value: keyof ByName): void {
  Object.defineProperties(error, { name: { value }, [MARK]: { value } });
}
