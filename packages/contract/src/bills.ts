import { z } from 'zod';
import { REPORT_LENGTH_MAX } from './reconciliation.ts';

/** What providers say they billed, beside our receipts. */

const day = z.iso.date().meta({ description: 'A day in UTC.', examples: ['2026-11-01'] });
const micros = z.int().meta({ description: 'An amount in micros of the service’s currency.' });

export const newBillSchema = z.strictObject({
  provider: z.string().min(1).max(64).meta({ description: 'The name of the provider in the catalogue.' }),
  format: z.enum(['openrouter', 'anthropic', 'openai']).meta({
    description:
      'The form of the bill. `openrouter` is the answer of `GET /api/v1/activity`, `anthropic` stands for answers of `GET /v1/organizations/cost_report` with `group_by[]=description`, and `openai` for answers of `GET /v1/organization/costs` with `group_by=line_item`.',
  }),
  from: day,
  to: day.meta({ description: 'The day after the last one, in UTC, at most 31 days after `from`.' }),
  dollarMicros: z.int().min(1).max(1_000_000_000).optional().meta({
    description: 'What one US dollar was worth, in micros of your currency. It is required unless that is the dollar.',
  }),
  bill: z
    .string()
    .min(2)
    .max(REPORT_LENGTH_MAX)
    .meta({ description: 'The JSON as the provider sent it, or an array of several pages.' }),
});

const comparedBillSchema = z.object({
  theirMicros: micros,
  ourMicros: micros.meta({
    description: 'What our receipts come to, by the prices of the upstreams and without the margin, in micros.',
  }),
  unpaidMicros: micros.meta({
    description: 'The part of `ourMicros` that is for calls that were served and that nobody paid for.',
  }),
  differenceMicros: micros.meta({ description: 'What they billed less `ourMicros`.' }),
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
      roughCalls: z.int().meta({
        description: 'The number of calls with tiers, fees or rare kinds of token, whose cost here is rough.',
      }),
      theirInputTokens: z.int().nullable(),
      ourInputTokens: z.int(),
      theirOutputTokens: z.int().nullable(),
      ourOutputTokens: z.int(),
    }),
  ),
});

/** What each route about bills takes and answers. */
export const BILL_ROUTES = {
  'POST /operator/bills': { body: newBillSchema, answer: comparedBillSchema, config: { isLarge: true } },
} as const;
