import { ERROR_STATUS, type ErrorCode } from '@purser/contract/errors.ts';
import { labelledCounter } from '#kernel/metrics/metrics.ts';

/** Counts the refusals of every route by error code. */
export const refusals = labelledCounter('purser_refusals_total', 'Refused requests, by error code.', {
  code: Object.keys(ERROR_STATUS) as readonly ErrorCode[],
});
