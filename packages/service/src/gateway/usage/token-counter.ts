import type { Tokenizer } from '@purser/contract/catalogue.ts';

/**
 * Counts the tokens of a text that comes in pieces, by the script of each character. It is an estimate: a tokenizer's own vocabulary
 * is megabytes large, and providers change it. `tests/property/token-estimates.test.ts` holds it against real tokenizers.
 */
interface TokenCounter {
  readonly add: (text: string) => void;
  /** The tokens of all pieces so far. A whole number. */
  readonly tokens: () => number;
}

/** The UTF-16 code units of one kind of character: the first and the last of each range. */
type Ranges = readonly (readonly [number, number])[];

interface Script {
  readonly ranges: Ranges;
  /** Thousandths of a token for each code unit, and for the first one of a run of the same script, by tokenizer. */
  readonly o200k: readonly [unit: number, run: number];
  readonly cl100k: readonly [unit: number, run: number];
}

/**
 * The weights are fitted to the corpus (`tests/fixtures/token-corpus.json`): they have the least sum for which no text
 * of it is counted too low. A code unit costs something in every script that people write in, because a run may be of
 * any length.
 */
const SCRIPTS: readonly Script[] = [
  // Anything that is in no range below.
  { ranges: [], o200k: [1_000, 0], cl100k: [1_000, 0] },
  // A space belongs to the word behind it, and many of them make one token.
  { ranges: [[0x20, 0x20]], o200k: [10, 0], cl100k: [10, 0] },
  { ranges: [[0x00, 0x1f]], o200k: [0, 302], cl100k: [0, 300] },
  // Latin: small and capital letters, digits, signs, letters with marks.
  { ranges: [[0x61, 0x7a]], o200k: [255, 0], cl100k: [281, 0] },
  { ranges: [[0x41, 0x5a]], o200k: [814, 0], cl100k: [930, 0] },
  { ranges: [[0x30, 0x39]], o200k: [360, 1_035], cl100k: [360, 995] },
  {
    ranges: [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7f],
    ],
    o200k: [400, 679],
    cl100k: [400, 676],
  },
  {
    ranges: [
      [0xc0, 0x36f],
      [0x1e00, 0x1eff],
    ],
    o200k: [400, 1_116],
    cl100k: [2_602, 0],
  },
  // Greek.
  {
    ranges: [
      [0x370, 0x3ff],
      [0x1f00, 0x1fff],
    ],
    o200k: [458, 0],
    cl100k: [1_040, 0],
  },
  // Cyrillic and Armenian.
  { ranges: [[0x400, 0x58f]], o200k: [200, 1_023], cl100k: [200, 2_414] },
  // Hebrew and Arabic.
  {
    ranges: [
      [0x590, 0x8ff],
      [0xfb1d, 0xfdff],
      [0xfe70, 0xfefe],
    ],
    o200k: [337, 271],
    cl100k: [1_126, 0],
  },
  // Devanagari to Malayalam.
  { ranges: [[0x900, 0xdff]], o200k: [294, 560], cl100k: [1_476, 0] },
  // Thai, Lao, Tibetan, Burmese and Khmer.
  {
    ranges: [
      [0xe00, 0x109f],
      [0x1780, 0x17ff],
    ],
    o200k: [469, 0],
    cl100k: [928, 0],
  },
  // Kana.
  { ranges: [[0x3040, 0x30ff]], o200k: [646, 0], cl100k: [752, 0] },
  // Han, and the signs that are written with it.
  {
    ranges: [
      [0x2e80, 0x303f],
      [0x3100, 0x9fff],
      [0xf900, 0xfaff],
      [0xff00, 0xffef],
    ],
    o200k: [1_010, 0],
    cl100k: [1_512, 0],
  },
  // Hangul.
  {
    ranges: [
      [0x1100, 0x11ff],
      [0xac00, 0xd7af],
    ],
    o200k: [810, 0],
    cl100k: [1_393, 0],
  },
  // Quotes, dashes, arrows, symbols; an emoji is two code units or more.
  {
    ranges: [
      [0x2000, 0x2e7f],
      [0xd800, 0xdfff],
      [0xfe00, 0xfe0f],
    ],
    o200k: [927, 0],
    cl100k: [1_385, 0],
  },
];

/** The script of each code unit, as an index of `SCRIPTS`. A stream looks up every character that it relays. */
const SCRIPT_OF = new Uint8Array(0x1_0000);
for (const [index, { ranges }] of SCRIPTS.entries()) {
  for (const [first, last] of ranges) SCRIPT_OF.fill(index, first, last + 1);
}

interface Weights {
  readonly unit: Uint16Array;
  readonly run: Uint16Array;
}

function weightsOf(tokenizer: Tokenizer): Weights {
  const weights = SCRIPTS.map((script) => script[tokenizer]);
  return { unit: Uint16Array.from(weights, ([unit]) => unit), run: Uint16Array.from(weights, ([, run]) => run) };
}

const WEIGHTS: Readonly<Record<Tokenizer, Weights>> = { o200k: weightsOf('o200k'), cl100k: weightsOf('cl100k') };

export function createTokenCounter(tokenizer: Tokenizer): TokenCounter {
  const { unit, run } = WEIGHTS[tokenizer];
  /** The sum is in thousandths, because whole numbers add up the same in any order of pieces. */
  let sum = 0;
  let before = -1;
  return {
    add: (text) => {
      // Local variables, because a sum in the closure would be a new object for each character.
      let added = 0;
      let previous = before;
      for (let index = 0; index < text.length; index += 1) {
        const script = SCRIPT_OF[text.charCodeAt(index)] as number;
        added += unit[script] as number;
        if (script === previous) continue;
        added += run[script] as number;
        previous = script;
      }
      sum += added;
      before = previous;
    },
    tokens: () => Math.ceil(sum / 1_000),
  };
}
