import { z } from 'zod';

/** What the sandbox can play in place of a provider. `sandbox/<name>` is a model that always does (docs/SANDBOX.md). */
export const SANDBOX_OUTCOMES = [
  'throttled',
  'error',
  'rejected',
  'timeout',
  'late-error',
  'error-midway',
  'throttled-midway',
  'stalled',
  'unfinished',
  'length',
  'content-filter',
  'refusal',
  'tool-call',
  'no-usage',
  'slow',
  'long',
] as const;

export type SandboxOutcome = (typeof SANDBOX_OUTCOMES)[number];

const outcome = z.enum(SANDBOX_OUTCOMES, {
  error: `must be one of ${SANDBOX_OUTCOMES.map((name) => `\`${name}\``).join(', ')}`,
});

/** The outcome of a test user's next call. */
export const nextOutcomeSchema = z.strictObject({
  outcome: outcome.nullable().meta({ description: 'The outcome to play. `null` clears the one that was set.' }),
});
