import { z } from 'zod';

/** The providers of a catalogue. Each kind is a schema of its own. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const NAME_WORDS = {
  error: 'must be 1 to 128 letters, digits, `.`, `_`, `:`, `/` or `-`, and begin with a letter or digit',
};

/**
 * Settings of the service itself. The editor of a catalogue chooses the address that a key is sent to, so a provider's
 * key must not be one of the service's own secrets.
 */
const OWN_SETTING = /^(PURSER_|DATABASE_URL$|SMTP_URL$|PG)/;

/** A name of a provider or an alias. */
export const catalogueName = z.string().regex(NAME, NAME_WORDS);
/** What to do when a caller leaves a stream: stop the provider, or read on to learn what it will charge. */
export const onAbandon = z.enum(['cancel', 'drain']);

/** The fields of every kind. */
const common = { onAbandon: onAbandon.default('cancel') };

/** A server of the compatible format. Its key is named, not contained: operators see the catalogue, and the database keeps it. */
const openAiCompatible = z.strictObject({
  kind: z.literal('openai-compatible'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine(isBare, { error: 'must have no user name, password, query or fragment; name a key by `apiKeyEnv`' }),
  /** The environment variable that contains the key. Without it, no key is sent. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be capital letters, digits and `_`, and begin with a letter' })
    .refine((name) => !OWN_SETTING.test(name), {
      error: 'must not be a setting of the service itself',
    })
    .optional(),
  ...common,
});

/** The provider simulator that comes with Purser, for development only. */
const simulator = z.strictObject({ kind: z.literal('simulator'), ...common });

export const providerSchema = z.discriminatedUnion('kind', [openAiCompatible, simulator]);
export type CatalogueProvider = z.output<typeof providerSchema>;

/** Whether an address contains no secret. Operators see the whole catalogue, addresses included. */
function isBare(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
