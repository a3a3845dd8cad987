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

/** `npm run looks` goes through every look and keeps pictures. `npm test` takes each width once and each colour scheme once. */
export const IS_FOR_PEOPLE = process.env['PURSER_TEST_LOOKS'] === 'every';
const CHOSEN: readonly Look[] = IS_FOR_PEOPLE ? (Object.keys(EVERY) as Look[]) : ['phone-dark', 'desk-light'];

/** The looks in which a page is tested, each with the options of its window. */
export function looks(
  more: Partial<Record<Look, ContextOptions>> = {},
): readonly (readonly [string, ContextOptions])[] {
  return CHOSEN.map((look) => [look, { ...EVERY[look], ...more[look] }]);
}
