import { z } from 'zod';

/** Control characters, line and paragraph separators, and everything that changes the writing direction. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
/** At least one character that a person can see. U+2800 is a blank Braille pattern, which counts as neither space nor ignorable. */
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u;

/** A text of one line that somebody chose, and that others read on pages and in mails. */
export function shownText(lengthMax: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(lengthMax)
    .refine((text) => !MISLEADING.test(text), {
      error: 'must not contain control characters, or characters that change the direction of text',
    })
    .refine((text) => SEEN.test(text), { error: 'must contain visible text' });
}
