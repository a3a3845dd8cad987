import type { z } from 'zod';
import { explainIssue, issueWords } from './issues.ts';

/** One thing wrong with a form, and the field that it is about. */
interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * Checks what was typed into a form by the schema of the route that does the same, so that a page accepts exactly what the
 * API does. `names`: what the page calls each field of the schema. Gives the value, or at least one problem.
 */
export function checkFields<S extends z.ZodType>(
  schema: S,
  typed: unknown,
  names: Readonly<Record<string, string>>,
): { readonly value: z.output<S> } | { readonly problems: readonly FieldProblem[] } {
  const result = schema.safeParse(typed, { error: issueWords, reportInput: true });
  if (result.success) return { value: result.data };
  const problems = result.error.issues.map((issue) => {
    const { steps, words } = explainIssue(issue);
    const field = String(steps[0] ?? '');
    return { field, message: `${names[field] ?? field}: ${words}` };
  });
  return { problems };
}
