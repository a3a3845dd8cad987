import fc from 'fast-check';

/** Lone surrogates, which are no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character of Unicode, as a `unit` of `fc.string`. The `binary` of fast-check has the same characters, and takes a second of
 * each process to list them.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10_ff_ff - SURROGATES.count)
  .map((code) => String.fromCodePoint(code < SURROGATES.first ? code : code + SURROGATES.count));
