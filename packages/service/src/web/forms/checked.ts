import { checkFields } from '@purser/contract/check-fields.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

type Schema = Parameters<typeof checkFields>[0];
type Value<S extends Schema> = Extract<ReturnType<typeof checkFields<S>>, { readonly value: unknown }>['value'];

/** What was typed, by the rules of the route that does the same. `labels`: what the page calls the fields of the route. */
export function checked<S extends Schema>(
  schema: S,
  typed: unknown,
  labels: Readonly<Record<string, string>>,
): Value<S> | Refusal<'BAD_REQUEST'> {
  const result = checkFields(schema, typed, labels);
  if ('value' in result) return result.value;
  return refuse('BAD_REQUEST', result.problems.map(({ message }) => message).join(' '));
}
