import type { ErrorCode, PaymentCode } from './wire.ts';

/** By this each copy of the package knows the errors of another: an app may well have both the ES module and the CommonJS one. */
const MARK = Symbol.for('purser.error');

interface Fields<Code> {
  readonly code: Code;
  readonly correlationId: string;
  readonly message: string;
}

/**
 * Nothing is left that pays for the call: a 402. The call was not made and cost nothing.
 *
 * - `PAYMENT_REQUIRED`: no wallet, or too little in it. Send the user to `topupUrl`.
 * - `APP_SPEND_CAP_EXCEEDED`: the monthly cap that the user set is reached. `topupUrl`, where there is one, leads to it.
 * - `WALLET_SUSPENDED`: a bank took money back. There is no link; paying does not help, the operator must.
 */
export class PaymentRequiredError extends Error {
  declare readonly name: 'PaymentRequiredError';
  readonly status = 402;
  readonly code: PaymentCode;
  /** Signed, for this user alone, good for minutes: hand it to the user's browser and keep it out of logs. */
  declare readonly topupUrl?: string; // `declare`: where there is none, the error has no such property.
  /** Names the call in the service's logs and receipts. Empty where a chat client has dropped it: the AI SDK, in the middle of a stream. */
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
 * `balance`, `connect` or `usageSummary` was answered with neither a success nor a 402. `code` says why: `UNAUTHORIZED` (the key),
 * `BAD_REQUEST` (the user, the address to come back to), `APP_SUSPENDED`, `TOO_MANY_REQUESTS` and `INTERNAL_SERVER_ERROR` (try
 * again later). `UNKNOWN`: the answer is not one of Purser; something in between answered.
 */
export class ServiceApiError extends Error {
  declare readonly name: 'ServiceApiError';
  readonly status: number;
  readonly code: ErrorCode | 'UNKNOWN';
  /** Names the call in the service's logs. */
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
 * A delivery is not to be believed. Answer it with a 400.
 *
 * - `header`: `x-service-signature` is missing, or is no such header.
 * - `signature`: it was not signed with this secret, or the body is not as it was sent: not the raw bytes, most often.
 * - `stale`: signed more than 300 seconds ago or ahead. Look at the clock of this machine.
 * - `body`: signed, but no event.
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

/** Whether an error is one of this package, or of this class of it. Also of another copy, for which `instanceof` says no. */
export function isPurserError(error: unknown): error is PurserError;
export function isPurserError<Name extends keyof ByName>(error: unknown, name: Name): error is ByName[Name];
export function isPurserError(error: unknown, name?: string): boolean {
  if (typeof error !== 'object' || error === null || !(MARK in error)) return false;
  return name === undefined || error[MARK] === name;
}

function mark(error: Error, value: keyof ByName): void {
  Object.defineProperties(error, { name: { value }, [MARK]: { value } });
}
