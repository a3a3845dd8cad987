import { micros } from '#kernel/micros.ts';
import { formatsOf } from '#web/format/formats.ts';

/** Where the links of samples lead: to the page that shows them. */
export const HERE = '/dev/components';
export const ENGLISH = formatsOf('en');
export const GERMAN = formatsOf('de');
export const TWELVE_FIFTY = { amount: micros(12_500_000n), currency: 'EUR' };
/** The largest amount there can be: 2^53 - 1 micros. */
export const MOST = { amount: micros(9_007_199_254_740_991n), currency: 'EUR' };
export const AT_MS = Date.UTC(2026, 10, 21, 9, 30);
export const LONG_NAME = 'Donaudampfschifffahrtsgesellschaftskapitänspatentverlängerungs-Assistent';
