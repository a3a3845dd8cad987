import { ERROR_TYPE, type ErrorBody } from '@purser/contract/errors.ts';
import { refusalOfUpstream } from '#gateway/answer/refusals.ts';
import type { CorrelationId } from '#kernel/ids.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import { UpstreamError } from '#providers/provider.ts';

export const END_FRAME = 'data: [DONE]\n\n';

/** The one sentence of every 500 (ER-03). */
const FAULT_MESSAGE = 'Something went wrong on our side. Try again, and name the correlation id if it goes on.';

export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The envelope of a refusal (ER-01, ER-07). */
export function envelopeOf(refusal: Refusal, correlationId: CorrelationId): ErrorBody {
  const { code, message, detail } = refusal;
  const link = detail.topupUrl === undefined ? {} : { topupUrl: detail.topupUrl };
  return {
    error: { code, message, correlationId, type: ERROR_TYPE[code], param: detail.param ?? null, ...link },
    ...link,
  };
}

/** A failure after the first byte: the envelope that it would have had before, in a frame without `[DONE]` (ER-06). */
export function errorFrame(fault: unknown, correlationId: CorrelationId): string {
  const refusal = fault instanceof UpstreamError ? refusalOfUpstream(fault) : faultRefusal();
  return dataFrame(envelopeOf(refusal, correlationId));
}

export function faultRefusal(): Refusal<'INTERNAL_SERVER_ERROR'> {
  return refuse('INTERNAL_SERVER_ERROR', FAULT_MESSAGE);
}
