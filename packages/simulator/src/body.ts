import { malformed } from './api-error.ts';

const NESTING_MAX = 100; // Deeper than any schema in use, and far from exhausting the stack.

/** Parses the text of a body. Throws an `ApiError` with status 400 if it is not JSON, or nested too deeply. */
export function parseJson(body: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw malformed('', 'The body is not JSON.');
  }
  if (nestsDeeper(value, NESTING_MAX)) throw malformed('', `The body is nested deeper than ${NESTING_MAX} levels.`);
  return value;
}

/** Whether a value is nested deeper than this. Later steps recurse into it, so this limit protects their stack. */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1));
}
