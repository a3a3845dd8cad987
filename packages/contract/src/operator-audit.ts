import { z } from 'zod';
import { amount, moment } from './control.ts';
import { appId } from './identifiers.ts';
import { auditEntrySchema, auditPageSchema, signInListSchema, signInPageSchema } from './trail.ts';
import { nextPage } from './pages.ts';

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
  subject: text(600).optional().meta({ description: 'What the act was done to, exactly as the list shows it.' }),
  appId: appId.optional().meta({ description: 'Lists only acts on this app and on the wallets of its users.' }),
  from: z.iso.datetime({ offset: true }).optional().meta({ description: 'Lists only acts at this moment or later.' }),
  to: z.iso.datetime({ offset: true }).optional().meta({ description: 'Lists only acts before this moment.' }),
  amountFrom: money.optional().meta({ description: 'Lists only acts that moved at least this many micros.' }),
  amountTo: money.optional().meta({ description: 'Lists only acts that moved at most this many micros.' }),
};

const hash = z.string().meta({ description: 'A SHA-256 in hexadecimal.' });
const operatorAuditListSchema = z.object({
  entries: z.array(
    auditEntrySchema.extend({
      entryId: z
        .string()
        .meta({ description: 'The number of the entry. Numbers of acts that were rolled back are left out.' }),
      line: z
        .string()
        .nullable()
        .meta({ description: 'The number of its line in the chain. It is null for the first seconds.' }),
      hash: hash
        .nullable()
        .meta({ description: 'The SHA-256 of the line, in hexadecimal. It is null for the first seconds.' }),
    }),
  ),
  next: nextPage('before'),
});

const auditHeadSchema = z.object({
  line: z.string().meta({ description: 'The number of the last line of the chain. It is 0 if the chain has none.' }),
  hash: hash.nullable().meta({
    description:
      'The SHA-256 of that line, in hexadecimal. Write it down elsewhere, so that `purser audit check --head` can compare it.',
  }),
  sealedAt: moment.nullable(),
  waiting: z.int().meta({ description: 'The number of entries that have no line yet.' }),
});

/** What each route about the trail takes and answers. */
export const AUDIT_ROUTES = {
  'GET /operator/audit': { query: auditPageSchema.extend(filters), answer: operatorAuditListSchema },
  'GET /operator/audit/head': { answer: auditHeadSchema },
  'GET /operator/sign-ins': { query: signInPageSchema, answer: signInListSchema },
} as const;
