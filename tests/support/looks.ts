export interface ContextOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
  readonly hasScripts?: boolean;
  readonly forcedColors?: 'active';
  readonly reducedMotion?: 'reduce';
  /** The hosts that its pages may lead to besides the service. */
  readonly others?: readonly string[];
}

type Look = 'phone-light' | 'phone-dark' | 'desk-light' | 'desk-dark';

const EVERY: Readonly<Record<Look, ContextOptions>> = {
  'phone-light': { width: 390 },
  'phone-dark': { width: 390, colorScheme: 'dark' },
  'desk-light': { width: 1280 },
  'desk-dark': { width: 1280, colorScheme: 'dark' },
};

/**
 * `npm run proofs -- looks` goes through every look and keeps pictures. `npm test` goes through the pages once, and `assertSound` turns each page to
 * the other width and colour scheme for a moment.
 */
export const IS_FOR_PEOPLE = process.env['PURSER_TEST_LOOKS'] === 'every';

/** The looks in which people go through pages, each with the options of its window. `shortly`: the one of `npm test`. */
export function looks(
  shortly: 'phone-dark' | 'desk-light',
  more: Partial<Record<Look, ContextOptions>> = {},
): readonly (readonly [string, ContextOptions])[] {
  const chosen = IS_FOR_PEOPLE ? (Object.keys(EVERY) as Look[]) : [shortly];
  return chosen.map((look) => [look, { ...EVERY[look], ...more[look] }]);
}

/** The width to which a window of one of the looks above is turned for a moment, in the other colours. Undefined: it stays as it is. */
export function otherWidth(width: number): number | undefined {
  if (IS_FOR_PEOPLE) return undefined;
  if (width === 1280) return 390;
  return width === 390 ? 1280 : undefined;
}
