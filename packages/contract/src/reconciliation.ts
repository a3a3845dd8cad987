import { z } from 'zod';
import { moment } from './control.ts';
import { pageLimit } from './pages.ts';

/** Reports of the payment processor beside our books. */

const day = z.iso.date().meta({ description: 'A day in UTC.', examples: ['2026-11-01'] });
/** The largest report of a request. `purser reconcile` takes larger ones. */
export const REPORT_LENGTH_MAX = 1_000_000;
const signedMicros = z.int().meta({ description: 'An amount in micros. It is negative for money that left.' });
const currency = z.string().meta({ examples: ['EUR'] });

export const newReconciliationSchema = z.strictObject({
  from: day,
  to: day.meta({
    description: 'The day after the last one, in UTC, at most 31 days after `from` and not in the future.',
  }),
  report: z.string().min(1).max(REPORT_LENGTH_MAX).optional().meta({
    description:
      'Stripe’s report "Balance change from activity", itemized, as CSV. Leave it out to have Stripe’s own list read.',
  }),
});

const side = z.object({ amountMicros: signedMicros, currency, day }).nullable();

const sumSchema = z.object({
  category: z.string().meta({ description: 'The kind of movement in Stripe’s words, such as `charge`.' }),
  currency,
  count: z.int(),
  grossMicros: signedMicros,
  feeMicros: signedMicros,
  netMicros: signedMicros,
});

const filedSchema = z
  .object({
    reportId: z.string(),
    processor: z.string(),
    from: day,
    to: day,
    source: z.enum(['file', 'processor']),
    digest: z.string().meta({ description: 'The SHA-256 of the file.' }),
    lines: z.int(),
    daysApart: z.int(),
    sums: z.array(sumSchema),
    filedBy: z.string(),
    filedByName: z.string().nullable(),
    filedAt: moment,
  })
  .meta({ id: 'FiledReconciliation' });

const reconciledSchema = z.object({
  clean: z.boolean(),
  from: day,
  to: day,
  digest: z.string(),
  lines: z.int(),
  matched: z.int(),
  foreign: z
    .int()
    .meta({ description: 'The number of movements by other software that uses the same account at the processor.' }),
  differences: z
    .array(
      z.object({
        kind: z.enum(['not_in_books', 'not_in_report', 'amount', 'currency', 'state', 'day', 'filed_before']),
        subject: z.enum(['payment', 'refund', 'failed refund', 'dispute', 'dispute returned']),
        line: z.int().nullable(),
        transaction: z.string().nullable().meta({ description: 'The processor’s id of the movement.' }),
        processorId: z.string().nullable(),
        paymentId: z.string().nullable(),
        there: side.meta({ description: 'What the report says.' }),
        here: side.meta({ description: 'What our books say.' }),
        differenceMicros: signedMicros
          .nullable()
          .meta({ description: 'What the processor says less what our books say, in micros.' }),
      }),
    )
    .meta({
      description: 'At most 1,000 differences. A report whose only differences are of the kind `day` is clean.',
    }),
  found: z.int(),
  daysApart: z.int(),
  sums: z.array(sumSchema),
  ownSums: z.array(z.object({ what: z.string(), currency, count: z.int(), amountMicros: signedMicros })),
  filed: filedSchema.nullable().meta({ description: 'The report as it was filed. It is null if it is not clean.' }),
});

const filedPageSchema = z.strictObject({
  before: z
    .string()
    .regex(/^\d{1,18}$/, { error: 'must be the `next` of an earlier page' })
    .optional(),
  limit: pageLimit(100),
});
const filedListSchema = z.object({ reports: z.array(filedSchema), next: z.string().nullable() });

/** What each route about reports takes and answers. */
export const RECONCILIATION_ROUTES = {
  'GET /operator/reconciliations': { query: filedPageSchema, answer: filedListSchema },
  'POST /operator/reconciliations': {
    body: newReconciliationSchema,
    answer: reconciledSchema,
    config: { isLarge: true },
  },
} as const;
