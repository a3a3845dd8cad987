/** A word or phrase that the prose of the repository does not use. */
interface BannedWords {
  /** A space in it matches a line break too. */
  readonly pattern: RegExp;
  readonly instead: string;
}

export interface ProseRules {
  readonly banned: readonly BannedWords[];
  /** Words of a sentence in Markdown. Code in backticks is one word; tables and fenced code are left out. */
  readonly sentenceWordsMax: number;
  /** Words of the name of a test after its clause ids. */
  readonly testNameWordsMax: number;
  /** Paths of tests that keep no promise of the service: of tools, structure, documents, test support and costs. */
  readonly clauseless: readonly string[];
  /** Paths that begin so are not read. */
  readonly skipped: readonly string[];
}

/** The part of the house's voice that a pattern can hold. It reads Markdown, comments, and strings of three words or more. */
export const PROSE: ProseRules = {
  banned: [
    { pattern: /\b(?:he|him|his|himself|she|her|hers|herself)\b/gi, instead: 'People are "they".' },
    { pattern: /\b(?:whatever|whoever|whomever|whichever)\b/gi, instead: 'Name the thing or the person.' },
    {
      pattern: /\b(?:wherefrom|whereof|whereto|wherein|whereupon|thereof|therein)\b/gi,
      instead: 'Begin a new sentence.',
    },
    { pattern: /\bmake-believe\b/gi, instead: 'Say "test" or "simulated".' },
    {
      pattern: /\b(?:is|are|was|were|be) told of\b/gi,
      instead: 'Say who tells whom: "receives", "learns", "is notified of".',
    },
    { pattern: /\b(?:Only then|Never does|Nor does|Nor is)\b/g, instead: 'Begin with the subject.' },
    { pattern: /\bstrays?\b/gi, instead: 'Say "orphaned hold".' },
    { pattern: /\b(?:MoreText|more-text)\b/g, instead: 'Say "text run".' },
    { pattern: /\boddness(?:es)?\b/gi, instead: 'Say "anomaly".' },
  ],
  sentenceWordsMax: 40,
  testNameWordsMax: 15,
  clauseless: [
    'tests/benchmarks/',
    'tests/browser/',
    'tests/documents/',
    'tests/structure/',
    'tests/support/',
    'tests/proofs/costs/',
    'tests/proofs/histories/model.test.ts',
    'tests/proofs/mutants/',
    'tests/proofs/toolchain/',
  ],
  // Figures as they were measured, and the texts that the linter's own test must see refused.
  skipped: ['benchmarks/results/', 'benchmarks/reports/', 'tests/fixtures/', 'tests/structure/prose.test.ts'],
};
