import { z } from 'zod';
import {
  appIdSchema,
  bigintSchema,
  callIdSchema,
  objectSchema,
  timeSchema,
  userIdSchema,
} from '#http/cells/questions/schemas.ts';
import type { ReceiptRow } from '#calls/usage/queries.ts';

/** A receipt as its cell has it. It contains nothing of prompts or answers. */
export const receiptRowSchema: z.ZodType<ReceiptRow> = z.object({
  app_id: appIdSchema,
  call_id: callIdSchema,
  correlation_id: z.string().nullable(),
  user_id: userIdSchema,
  model: z.string().nullable(),
  settled_at: timeSchema,
  outcome: z.enum(['answered', 'abandoned', 'failed', 'expired']),
  is_estimated: z.boolean(),
  prompt_tokens: bigintSchema,
  cached_tokens: bigintSchema,
  cache_write_tokens: bigintSchema,
  completion_tokens: bigintSchema,
  reasoning_tokens: bigintSchema,
  held_micros: bigintSchema,
  charged_micros: bigintSchema,
  price_id: bigintSchema.nullable(),
  input_micros_per_million: bigintSchema.nullable(),
  cached_input_micros_per_million: bigintSchema.nullable(),
  cache_write_micros_per_million: bigintSchema.nullable(),
  output_micros_per_million: bigintSchema.nullable(),
  margin_basis_points: z.int().nullable(),
  margin_micros_per_call: bigintSchema.nullable(),
  details: objectSchema(),
  provider: z.string().nullable(),
  provider_model: z.string().nullable(),
  rare_counts: objectSchema(),
  is_late: z.boolean(),
  session: z.string().nullable().default(null), // A cell of the version before sends neither.
  wire: z.string().nullable().default(null),
});
