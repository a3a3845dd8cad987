import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId } from './identifiers.ts';
import { auditEntrySchema, auditPageSchema, next } from './operator.ts';

/** The audit trail as operators read it, and its chain of hashes (decision 71). */

const text = (most: number) => z.string().trim().min(1).max(most);

/** An amount of money in a query, which is text. Only plain digits count. */
const money = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
  amount,
);

/** What the list and the export of the trail can be narrowed to. All that are named must fit. */
const filters = {
  who: text(320)
    .optional()
    .meta({
      description:
        'Who acted: an account, key or identity, an e-mail address, or `command-line`, `settings` or `processor`.',
      examples: ['ops@example.com'],
    }),
  action: z
    .string()
    .regex(/^[a-z_-]+(\.[a-z_-]+)*$/, {
      error: 'must be an action, such as `wallet.credit`, or a kind, such as `wallet`',
    })
    .max(64)
    .optional()
    .meta({ description: 'One action, such as `wallet.credit`, or all of a kind, such as `wallet`.' }),
  subject: text(600).optional().meta({ description: 'What it was done to, exactly as the list shows it.' }),
  appId: appId.optional().meta({ description: 'Acts on this app and on the wallets of its users.' }),
  from: z.iso.datetime({ offset: true }).optional().meta({ description: 'Since this moment, inclusive.' }),
  to: z.iso.datetime({ offset: true }).optional().meta({ description: 'Before this moment.' }),
  amountFrom: money.optional().meta({ description: 'Acts that moved at least so many micros.' }),
  amountTo: money.optional().meta({ description: 'Acts that moved at most so many micros.' }),
};

export const operatorAuditPageSchema = auditPageSchema.extend(filters);

const hash = z.string().meta({ description: 'SHA-256 in hexadecimal.' });
export const operatorAuditListSchema = z.object({
  entries: z.array(
    auditEntrySchema.extend({
      entryId: z
        .string()
        .meta({ description: 'The number of the entry. Numbers of acts that were rolled back are left out.' }),
      line: z
        .string()
        .nullable()
        .meta({ description: 'The number of its line in the chain. Null for the first seconds.' }),
      hash: hash.nullable().meta({ description: 'Of the line, in hexadecimal. Null for the first seconds.' }),
    }),
  ),
  next,
});

export const auditHeadSchema = z.object({
  line: z.string().meta({ description: 'The number of the last line of the chain. 0 if it has none.' }),
  hash: hash.nullable().meta({
    description:
      'Of that line, in hexadecimal. Write it down elsewhere, and `purser audit check --head` can compare it.',
  }),
  sealedAt: moment.nullable(),
  waiting: z.int().meta({ description: 'Entries that have no line yet.' }),
});
