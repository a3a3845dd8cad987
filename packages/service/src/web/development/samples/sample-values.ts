import { micros } from '#kernel/values/micros.ts';
import { formatsOf } from '#web/format/formats.ts';

/** Where the links of samples lead: to the page that shows them. */
export const HERE = '/dev/components';
/** Two languages that write amounts and moments in different orders. */
export const ENGLISH = formatsOf('en');
export const GERMAN = formatsOf('de');
/** An amount with a zero at the end, which amounts must show and fields may leave out. */
export const TWELVE_FIFTY = { amount: micros(12_500_000n), currency: 'EUR' };
/** What one short call costs. */
export const TINY = { amount: micros(276n), currency: 'EUR' };
/** The largest amount there can be: 2^53 - 1 micros. */
export const MOST = { amount: micros(9_007_199_254_740_991n), currency: 'EUR' };
/** The time is 2026-11-21 09:30 UTC. It is always the same, so that pictures of the page can be compared. */
export const AT_MS = 1_795_253_400_000;
/**
 * The name is long enough to break any line, and one word. What a component does with it shows whether a phone can hold
 * it.
 */
export const LONG_NAME = 'Donaudampfschifffahrtsgesellschaftskapitänspatentverlängerungs-Assistent';
