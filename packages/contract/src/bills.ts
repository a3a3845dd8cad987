import { z } from 'zod';
import { REPORT_LENGTH_MAX } from './reconciliation.ts';

/** What providers say they billed, beside our receipts. */

const day = z.iso.date().meta({ description: 'A UTC day.', examples: ['2026-11-01'] });
const micros = z.int().meta({ description: 'Micros of the service’s currency.' });

export const newBillSchema = z.strictObject({
  provider: z.string().min(1).max(64).meta({ description: 'As the catalogue names it.' }),
  format: z.enum(['openrouter', 'anthropic', 'openai']).meta({
    description:
      '`openrouter`: the answer of `GET /api/v1/activity`. `anthropic`: answers of `GET /v1/organizations/cost_report` with `group_by[]=description`. `openai`: answers of `GET /v1/organization/costs` with `group_by=line_item`.',
  }),
  from: day,
  to: day.meta({ description: 'The UTC day after the last. At most 31 days after `from`.' }),
  dollarMicros: z.int().min(1).max(1_000_000_000).optional().meta({
    description: 'What one US dollar was worth, in micros of your currency. Required unless that is the dollar.',
  }),
  bill: z
    .string()
    .min(2)
    .max(REPORT_LENGTH_MAX)
    .meta({ description: 'The JSON as it came, or an array of several pages.' }),
});

export const comparedBillSchema = z.object({
  theirMicros: micros,
  ourMicros: micros.meta({ description: 'By our upstream prices, without the margin.' }),
  unpaidMicros: micros.meta({ description: 'Of `ourMicros`, what served calls used that nobody paid for.' }),
  differenceMicros: micros.meta({ description: 'What they billed beyond what we know.' }),
  rows: z.array(
    z.object({
      day,
      model: z.string().nullable(),
      theirMicros: micros,
      ourMicros: micros,
      unpaidMicros: micros,
      differenceMicros: micros,
      requests: z.int().nullable(),
      calls: z.int(),
      unpaidCalls: z.int(),
      roughCalls: z
        .int()
        .meta({ description: 'Calls with tiers, fees or rare kinds of token: their cost here is rough.' }),
      theirInputTokens: z.int().nullable(),
      ourInputTokens: z.int(),
      theirOutputTokens: z.int().nullable(),
      ourOutputTokens: z.int(),
    }),
  ),
});
