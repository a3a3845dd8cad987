import { isPurserError, type PaymentRequiredError } from '@purser/sdk';
import OpenAI from 'openai';

/** What the user is told if there is nothing to wait for, or nothing more. */
const REFUSED: Readonly<Record<PaymentRequiredError['code'], string>> = {
  PAYMENT_REQUIRED: 'You did not top up in time. Ask again when you have.',
  APP_SPEND_CAP_EXCEEDED: 'The monthly cap that you set for this app has not changed. Raise it, then ask again.',
  WALLET_SUSPENDED:
    'Your wallet is blocked, and paying in does not change that. The operator of the wallet service can tell you why.',
};

export function explain(fault: unknown): string {
  if (isPurserError(fault, 'PaymentRequiredError')) return REFUSED[fault.code];
  if (fault instanceof OpenAI.RateLimitError)
    return 'Too many questions are being asked at once. Try again in a moment.';
  return 'No complete answer arrived. Try again.';
}

/**
 * Logs what has failed. With the correlation id, the operator of Purser finds the call. Never the message or the whole fault: they hold what was
 * asked, headers with the key, or a link that is for one user alone.
 */
export function logFault(what: string, fault: unknown): void {
  console.error(what, JSON.stringify({ name: fault instanceof Error ? fault.name : 'unknown', ...factsOf(fault) }));
}

function factsOf(fault: unknown): object {
  if (isPurserError(fault, 'PaymentRequiredError') || isPurserError(fault, 'ServiceApiError')) {
    const { code, correlationId } = fault;
    return { code, correlationId };
  }
  if (!(fault instanceof OpenAI.APIError)) return {};
  const { status, code, headers } = fault;
  return { status, code, correlationId: headers?.get('x-correlation-id') };
}
