import { sequenceOf } from '../support/sequence.ts';

/**
 * The same value in one of the many encodings that JSON allows: needless escapes, spaces, numbers with
 * an exponent. The seed chooses the encoding.
 */
export function oddJson(value: unknown, seed: number): string {
  const next = sequenceOf(seed);
  const isPlain = next() < 0.5; // Leaves texts plain, so that only the numbers vary.

  function written(item: unknown): string {
    if (typeof item === 'string') return writtenText(item);
    if (typeof item === 'number') return writtenNumber(item);
    if (Array.isArray(item)) return `[${item.map(written).join(`,${space()}`)}]`;
    if (typeof item !== 'object' || item === null) return JSON.stringify(item);
    const fields = Object.entries(item).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${writtenText(name)}:${space()}${written(field)}`).join(',')}}`;
  }

  function space(): string {
    return next() < 0.1 ? ' \n' : '';
  }

  function writtenText(text: string): string {
    const isEscaped = !isPlain && next() < 0.5;
    const characters = Array.from(text, (character) => {
      if ((isEscaped && next() < 0.5) || isHalf(character)) return escapeOf(character);
      return character === '/' && isEscaped ? '\\/' : JSON.stringify(character).slice(1, -1);
    });
    return `"${characters.join('')}"`;
  }

  function writtenNumber(number: number): string {
    const short = number.toExponential().replace('e+', 'e');
    return next() < 0.5 && Object.is(Number(short), number) ? short : JSON.stringify(number);
  }

  return written(value);
}

/** One half of a surrogate pair, which only an escape can express. */
function isHalf(character: string): boolean {
  return character.length === 1 && character >= '\ud800' && character <= '\udfff';
}

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
