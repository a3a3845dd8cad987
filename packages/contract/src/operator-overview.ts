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

const books = z.object({ checkedAt: moment.nullable(), differences: z.int() }).meta({
  description:
    'The last check of the ledger, whose changes the service checks every minute. `checkedAt` is null before the first check.',
});
const held = z.object({ amountMicros: amount, calls: z.int() }).meta({ description: 'What running calls hold.' });

const overviewSchema = z
  .object({
    cell: z.string().optional().meta({
      description:
        'The cell that answers. The rest is about this cell alone. It is absent if the service has only one.',
    }),
    findings: z
      .array(
        z.object({
          kind: z.enum(FINDING_KINDS).meta({
            description:
              '`payments-kept` counts payments in no wallet, `disputes-open` disputes whose money a bank took within 21 days and has not given back, `refunds-late` refunds that have been undecided for a day, `acts-waiting` acts that wait for a second person, `money-held-long` calls that have run for an hour, `upstream-open` breakers as the answering process sees them, `wallets-suspended` wallets suspended since yesterday, and `webhooks-late` deliveries that were due five minutes ago.',
          }),
          count: z.int(),
          of: z
            .array(z.string())
            .meta({ description: 'The first twenty apps, upstreams or accounts that it is about.' }),
          names: z
            .array(z.string().nullable())
            .meta({ description: 'The e-mail address of each account in `of`. It is null for everything else.' }),
        }),
      )
      .meta({ description: 'What a person has to look at, the most urgent first.' }),
    books,
    held,
    deliveries: z.object({ delivered: z.int(), dropped: z.int(), waiting: z.int() }).meta({
      description:
        'Webhook events that were delivered or dropped within 24 hours, and those that wait. At most 1,000 are counted.',
    }),
    otherCells: z
      .array(
        z.object({
          cell: z.string(),
          answers: z
            .boolean()
            .meta({ description: 'Whether the cell answers. If it does not, nothing else is known about it.' }),
          findings: z.array(z.object({ kind: z.enum(FINDING_KINDS), count: z.int() })).optional(),
          books: books.optional(),
          held: held.optional(),
        }),
      )
      .optional()
      .meta({ description: 'The other cells, if the service has several.' }),
  })
  .meta({ id: 'Overview' });

const withCost = {
  ...figures,
  costMicros: amount.meta({
    description:
      'What providers charged for the calls that users paid for, in micros, by the prices of the catalogue: each charge without its margin. It is 0 in the sandbox.',
  }),
  uncostedMicros: amount.meta({
    description:
      'The part of `chargedMicros` whose cost is not known, because it is from before costs were counted. `purser stats rebuild` works it out.',
  }),
};

const serviceStatsSchema = z
  .object({
    mode: z.enum(['live', 'sandbox']),
    from: moment,
    to: moment,
    totals: z.object(withCost),
    series: z.array(z.object({ at: moment, ...withCost })).meta({
      description: 'One point for each step, in order, including steps without calls.',
    }),
    apps: z.array(z.object({ appId: z.string(), ...withCost })).meta({
      description: 'The hundred apps that cost most, in this order.',
    }),
    models: z.array(z.object({ model: z.string().nullable(), ...withCost })).meta({
      description:
        'The hundred models that cost most, in this order. The model is null for calls that were refused before it was known.',
    }),
    outcomes: outcomesSchema,
  })
  .meta({ id: 'ServiceStats' });

/** What can be found, or hang on something that was found. */
export const ENTITY_KINDS = [
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
const entity = {
  kind: z.enum(ENTITY_KINDS),
  id: z.string().meta({ description: 'The id. That of a wallet is its app and its user, with a space between them.' }),
};

const foundSchema = z.object({
  found: z.array(
    z.object({
      ...entity,
      name: z.string().nullable(),
      state: z.string().nullable(),
      at: moment.nullable(),
      amountMicros: amount.nullable(),
      related: z
        .array(z.object({ ...entity, name: z.string().nullable() }))
        .meta({ description: 'What belongs to it. Only apps and accounts have a `name`, as far as it is known.' }),
    }),
  ),
  otherCells: z
    .array(z.object({ cell: z.string(), answers: z.boolean(), has: z.boolean().optional() }))
    .optional()
    .meta({
      description:
        'The other cells, if the service has several and this one has found nothing. `has` says whether that cell has it; look there for what it is.',
    }),
});

/** What each route with which operators begin takes and answers. */
export const OVERVIEW_ROUTES = {
  'GET /operator/overview': { answer: overviewSchema },
  'GET /operator/stats': {
    query: statsQuerySchema.extend({
      appId: appId.optional().meta({ description: 'Counts only the calls of this app. The default is all apps.' }),
    }),
    answer: serviceStatsSchema,
  },
  'GET /operator/find': {
    query: z.strictObject({
      q: z
        .string()
        .max(512)
        .meta({
          description:
            'The id of a call, payment, refund, checkout, event, app, key, account, connection or identity; the id of a payment, refund or checkout at the processor; `app_… user` or the number of a wallet; an exact e-mail address; or the correlation id of calls.',
          examples: ['pay_4fJ0bKqkY2cVZ8sTtW1xQd'],
        }),
    }),
    answer: foundSchema,
  },
} as const;
