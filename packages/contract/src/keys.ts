import { z } from 'zod';
import { moment } from './control.ts';
import { appId, keyId, userId } from './identifiers.ts';
import { shownText } from './shown-text.ts';

/** The mode is fixed when a key is made (glossary: mode). A key cannot move between real and play money. */
const mode = z.enum(['live', 'sandbox'], { error: 'must be `live` or `sandbox`; a test key has the mode `sandbox`' });
/** The options of a key as it is shown. They are absent if they were not set. */
const keyOptions = {
  userId: z.string().optional(),
  joinSeconds: z.int().optional(),
};

const LISTED_MAX = 100;
const name = shownText(80);
const expiresAt = moment.meta({
  description: 'The moment from which the key is refused like a revoked one, in UTC, in ISO 8601.',
});
const models = z.array(z.string().min(1).max(256)).min(1).max(LISTED_MAX);
const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be an address such as `192.0.2.7`, or a network such as `192.0.2.0/24` or `2001:db8::/48`',
});
const addresses = z.array(address).min(1).max(LISTED_MAX);
const perMinute = z.int().min(1).max(1_000_000);
const monthlyBudgetMicros = z.int().min(1);

/** Limits of a key as they are set. A field left out stays as it is, and a new key has none. */
const newLimits = z.strictObject({
  models: models.optional().meta({
    description:
      'The identifiers and aliases that the key may call. An alias allows the model that it points to, under any of its names. A call of any other model gets a 403 `MODEL_NOT_ENTITLED`.',
    examples: [['llama']],
  }),
  addresses: addresses.optional().meta({
    description:
      'The addresses and networks from which the key may be used. A call from elsewhere gets a 403 `FORBIDDEN`.',
    examples: [['192.0.2.0/24']],
  }),
  perMinute: perMinute.optional().meta({
    description:
      'The most calls in a minute, all of which may come at once. The limit of the app applies as well. Beyond it, the answer is a 429 with `retry-after`.',
  }),
  monthlyBudgetMicros: monthlyBudgetMicros.optional().meta({
    description:
      'The most micros that calls with this key may be charged and hold in a calendar month (UTC), over all users. Beyond it, the answer is a 403 `KEY_BUDGET_EXCEEDED`. Only what is charged after the key got its budget counts.',
  }),
});

export const newKeySchema = z.strictObject({
  mode,
  userId: userId.optional().meta({
    description:
      'Binds the key to this user, for tools that cannot send `x-service-user`. The header may be left out, and must name this user if it is sent.',
  }),
  joinSeconds: z.int().min(1).max(60).optional().meta({
    description:
      'Helps clients that repeat a call without marking it as a repeat. A call with the same user and body as one that still runs, or that ended at most this many seconds ago, gets the answer of that call and is not charged.',
  }),
  name: name.optional().meta({ description: 'A name by which people recognise the key in lists.' }),
  expiresAt: expiresAt.optional(),
  limits: newLimits.optional(),
});

export const changeKeySchema = z
  .strictObject({
    name: name.nullable().optional(),
    expiresAt: expiresAt.nullable().optional(),
    limits: z
      .strictObject({
        models: models.nullable().optional(),
        addresses: addresses.nullable().optional(),
        perMinute: perMinute.nullable().optional(),
        monthlyBudgetMicros: monthlyBudgetMicros.nullable().optional(),
      })
      .optional(),
  })
  .meta({ description: 'Fields that are left out stay as they are. `null` removes a name, an expiry or a limit.' });

const OVERLAP_SECONDS_MAX = 30 * 24 * 60 * 60;
export const rollKeySchema = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS_MAX)
    .default(24 * 60 * 60)
    .meta({
      description:
        'The seconds for which the old key goes on working, at most 30 days. With 0, it ends at once. The default is a day.',
    }),
  expiresAt: expiresAt.nullable().optional().meta({
    description:
      'When the successor expires. With `null`, it never does. The default is when the old key would have expired.',
  }),
});

const limits = z
  .object({
    models: z.array(z.string()).optional(),
    addresses: z.array(z.string()).optional(),
    perMinute: z.int().optional(),
    monthlyBudgetMicros: z.int().optional(),
  })
  .meta({ description: 'Limits that are not set are absent.' });

/** A key in a list. `hint` lets people recognise it; the key itself cannot be shown again. */
export const keySchema = z
  .object({
    keyId: z.string(),
    mode,
    hint: z.string(),
    ...keyOptions,
    name: z.string().nullable(),
    createdAt: moment,
    lastUsedAt: moment
      .nullable()
      .meta({ description: 'When the key was last used, to the minute. It is null if it never was.' }),
    expiresAt: moment.nullable(),
    revokedAt: moment.nullable(),
    rolledFrom: z.string().nullable().meta({ description: 'The id of the key that this one succeeds, or null.' }),
    rolledTo: z.string().nullable().meta({ description: 'The id of the key that succeeds this one, or null.' }),
    limits,
    budget: z.object({ spentMicros: z.int(), heldMicros: z.int() }).optional().meta({
      description:
        'What counts towards the monthly budget this month, in micros. A key and its successors count together. It is absent if there is no budget, or if a part of the service does not answer.',
    }),
  })
  .meta({ id: 'Key' });
export const keyListSchema = z.object({ keys: z.array(keySchema) });
export const keyParamsSchema = z.object({ appId, keyId });
/** A key that was just made, with what was set for it. */
const minted = {
  appId: z.string(),
  keyId: z.string(),
  apiKey: z.string(),
  mode,
  ...keyOptions,
  name: z.string().optional(),
  expiresAt: moment.optional(),
  limits: limits.optional(),
};
export const mintedKeySchema = z.object(minted).meta({
  id: 'MintedKey',
  description: 'A new key. Only this answer shows `apiKey`. Fields that were not set are absent.',
});
export const rolledKeySchema = z.object({ ...minted, rolledFrom: z.string(), oldKeyEndsAt: moment }).meta({
  id: 'RolledKey',
  description: 'The successor of a key. Only this answer shows `apiKey`. Fields that are not set are absent.',
});
