/** A name of an object or an index of a list. */
export type Step = string | number;

/** Writes the way to a value as messages show it: `messages[0].content`. */
export function pathOf(steps: readonly Step[]): string {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return path.replace(/^\./, '');
}
