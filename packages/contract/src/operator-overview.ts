import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId } from './identifiers.ts';
import { figures, outcomesSchema, statsQuerySchema } from './stats.ts';

/** What operators see first, and how they find things (CP-10). */

/** What a finding is about, the most urgent first. */
export const FINDING_KINDS = [
  'ledger-wrong',
  'acts-waiting',
  'payments-kept',
  'disputes-open',
  'ledger-check-old',
  'refunds-late',
  'money-held-long',
  'upstream-open',
  'wallets-suspended',
  'webhooks-disabled',
  'webhooks-late',
  'operators-without-second-factor',
] as const;

const books = z
  .object({ checkedAt: moment.nullable(), differences: z.int() })
  .meta({ description: 'The service checks the changes in the ledger every minute. Null before the first check.' });
const held = z.object({ amountMicros: amount, calls: z.int() }).meta({ description: 'What running calls hold.' });

export const overviewSchema = z
  .object({
    cell: z
      .string()
      .optional()
      .meta({ description: 'The cell that answers, if the service has several. The rest is about it alone.' }),
    findings: z
      .array(
        z.object({
          kind: z.enum(FINDING_KINDS).meta({
            description:
              '`payments-kept`: payments in no wallet. `disputes-open`: money that a bank took within 21 days and has not given back. `refunds-late`: undecided for a day. `acts-waiting`: for a second person. `money-held-long`: by calls that have run for an hour. `upstream-open`: seen by the process that answers. `wallets-suspended`: since yesterday. `webhooks-late`: deliveries that were due five minutes ago.',
          }),
          count: z.int(),
          of: z.array(z.string()).meta({ description: 'The first twenty: apps, upstreams or accounts.' }),
          names: z
            .array(z.string().nullable())
            .meta({ description: 'The mail address of each account in `of`. Null for the others.' }),
        }),
      )
      .meta({ description: 'What a person has to look at, the most urgent first.' }),
    books,
    held,
    deliveries: z
      .object({ delivered: z.int(), dropped: z.int(), waiting: z.int() })
      .meta({ description: 'Events that ended within 24 hours, and those that wait. At most 1,000 are counted.' }),
    otherCells: z
      .array(
        z.object({
          cell: z.string(),
          answers: z.boolean().meta({ description: 'False: it does not answer, so nothing else is known of it.' }),
          findings: z.array(z.object({ kind: z.enum(FINDING_KINDS), count: z.int() })).optional(),
          books: books.optional(),
          held: held.optional(),
        }),
      )
      .optional()
      .meta({ description: 'The other cells, if the service has several.' }),
  })
  .meta({ id: 'Overview' });

export const serviceStatsQuerySchema = statsQuerySchema.extend({
  appId: appId.optional().meta({ description: 'Only the calls of this app. All apps if you leave it out.' }),
});

const withCost = {
  ...figures,
  costMicros: amount.meta({
    description:
      'What the prices of the catalogue say that providers charged for the calls that users paid for: each charge without its margin, to the micro. 0 in the sandbox.',
  }),
  uncostedMicros: amount.meta({
    description:
      'The part of `chargedMicros` whose cost is not known, from before it was counted. `purser stats rebuild` works it out.',
  }),
};

export const serviceStatsSchema = z
  .object({
    mode: z.enum(['live', 'sandbox']),
    from: moment,
    to: moment,
    totals: z.object(withCost),
    series: z.array(z.object({ at: moment, ...withCost })).meta({
      description: 'One point for each step, in order, also those without calls.',
    }),
    apps: z.array(z.object({ appId: z.string(), ...withCost })).meta({
      description: 'The hundred apps that cost most, first.',
    }),
    models: z.array(z.object({ model: z.string().nullable(), ...withCost })).meta({
      description: 'The hundred models that cost most, first. Null: refused before the model was known.',
    }),
    outcomes: outcomesSchema,
  })
  .meta({ id: 'ServiceStats' });

export const findQuerySchema = z.strictObject({
  q: z
    .string()
    .max(512)
    .meta({
      description:
        'The id of a call, payment, refund, checkout, event, app, key, account, connection or identity; the id of a payment, refund or checkout at the processor; `app_… user` or the number of a wallet; a mail address, exactly; or the correlation id of calls.',
      examples: ['pay_4fJ0bKqkY2cVZ8sTtW1xQd'],
    }),
});

/** What can be found, or hang on something that was found. */
export const THING_KINDS = [
  'call',
  'payment',
  'refund',
  'checkout',
  'event',
  'app',
  'key',
  'account',
  'wallet',
  'identity',
  'case',
  'dispute',
  'pending',
] as const;
const thing = {
  kind: z.enum(THING_KINDS),
  id: z.string().meta({ description: 'Of a wallet: its app and its user, with a space between.' }),
};

export const foundSchema = z.object({
  found: z.array(
    z.object({
      ...thing,
      name: z.string().nullable(),
      state: z.string().nullable(),
      at: moment.nullable(),
      amountMicros: amount.nullable(),
      related: z
        .array(z.object({ ...thing, name: z.string().nullable() }))
        .meta({ description: 'What hangs on it. `name`: of apps and accounts, as far as it is known.' }),
    }),
  ),
  otherCells: z
    .array(z.object({ cell: z.string(), answers: z.boolean(), has: z.boolean().optional() }))
    .optional()
    .meta({
      description:
        'The other cells, if the service has several and this one has nothing. `has`: whether that cell has it. Look there for what it is.',
    }),
});
