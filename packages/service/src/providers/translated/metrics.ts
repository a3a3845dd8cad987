import { counter } from '#kernel/metrics/metrics.ts';

/**
 * Warnings of vendors' libraries: a library left out or changed a part of a request. The table of capabilities refuses such requests
 * beforehand, so each of them is a fault of ours (MO-09).
 */
export const libraryWarnings = counter(
  'purser_provider_warnings_total',
  'Parts of requests that a vendor library changed or left out on its own.',
);
