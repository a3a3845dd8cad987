import { ERROR_STATUS, type ErrorCode } from '@purser/contract/errors.ts';
import { labelledCounter } from '#kernel/metrics.ts';

/** Refusals, of every route, by the code that was answered. */
export const refusals = labelledCounter('purser_refusals_total', 'Requests that were refused, by code.', {
  code: Object.keys(ERROR_STATUS) as readonly ErrorCode[],
});
