import { ERROR_TYPE, type ErrorBody } from '@purser/contract/errors.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** The same sentence for every 500, so that it tells a caller nothing about the fault (ER-03). */
const FAULT_MESSAGE =
  'Something went wrong on our side. Try again, and quote the correlation id if it keeps happening.';
/** What says "try again" says when (ER-05). The next gateway, or another connection to the database, may answer by then. */
export const FAULT_RETRY_SECONDS = 2;

/** Puts a refusal into the envelope of every error answer (ER-01, ER-07). */
export function envelopeOf(refusal: Refusal, correlationId: CorrelationId): ErrorBody {
  const { code, message, detail } = refusal;
  const link = detail.topupUrl === undefined ? {} : { topupUrl: detail.topupUrl };
  return {
    error: {
      code,
      message,
      correlationId,
      type: detail.type ?? ERROR_TYPE[code],
      param: detail.param ?? null,
      ...link,
    },
    ...link,
  };
}

/** The refusal that callers get for a fault of ours. */
export function faultRefusal(): Refusal<'INTERNAL_SERVER_ERROR'> {
  return refuse('INTERNAL_SERVER_ERROR', FAULT_MESSAGE, { retryAfterSeconds: FAULT_RETRY_SECONDS });
}
