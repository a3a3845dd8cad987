import { z } from 'zod';
import { apis } from './apis.ts';
import { compatibleOptions } from './compatible-options.ts';

/**
 * The providers of the catalogue. Their keys are named, not contained: the catalogue is shown to operators, kept in the
 * database and edited over HTTP. Where a key may be sent is decided outside it (MO-11, `provider-keys.ts`).
 */

/**
 * Settings of the service itself. The editor of a catalogue chooses the address that a key is sent to, so a provider's
 * key must not be one of the service's own secrets.
 */
const OWN_SETTING = /^(PURSER_|DATABASE_URL$|SMTP_URL$|PG|OTEL_EXPORTER_OTLP_(\w+_)?HEADERS$)/;
const KEYS_MAX = 64;
const CALLS_MAX = 100_000;
const QUEUE_MS_MAX = 60_000;

/** Whether an environment variable is a setting of the service itself. */
export function isOwnSetting(name: string): boolean {
  return OWN_SETTING.test(name);
}

/** What to do when a caller leaves a stream: stop the provider, or read on to learn what it will charge. */
export const onAbandon = z.enum(['cancel', 'drain']).meta({
  description:
    'What happens when a caller leaves a stream: `cancel` stops the provider, `drain` reads on to learn what it will charge.',
});

/** The name of a key in the settings file of provider keys. */
export const keyName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'must be 1 to 64 letters, digits, `.`, `_` or `-`, and begin with a letter or digit',
});

/** The environment variable that contains a key. */
export const keyVariable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be capital letters, digits and `_`, and begin with a letter' })
  .refine((name) => !isOwnSetting(name), { error: 'must not be a setting of the service itself' });

/** How every kind names its key: at most one of these. Without any, no key is sent. */
const keyFields = {
  apiKeyEnv: keyVariable.optional().meta({ description: 'The environment variable with the key.' }),
  apiKey: keyName.optional().meta({ description: 'The name of the key in the settings file of provider keys.' }),
  apiKeys: z
    .array(keyName)
    .min(1)
    .max(KEYS_MAX)
    .optional()
    .meta({ description: 'A pool of keys, over which calls are spread.' }),
};
const KEY_FIELDS = Object.keys(keyFields);

/** How much each process of the service sends to a provider. Calls above it wait for their turn, or go to another upstream. */
const limits = z.strictObject({
  callsAtOnce: z.int().min(1).max(CALLS_MAX).optional(),
  callsPerMinute: z.int().min(1).max(CALLS_MAX).optional(),
  queueMs: z
    .int()
    .min(0)
    .max(QUEUE_MS_MAX)
    .default(1_000)
    .meta({ description: 'How long a call may wait for its turn, in milliseconds.' }),
});

/** What every kind may say of its calls. */
const callFields = { onAbandon: onAbandon.default('cancel'), limits: limits.optional() };

/** What people read as the host is the host. A URL allows more: `http:a`, `http://a\@b` for the host `a`, full stops of other scripts. */
const PLAIN = /^https?:\/\/([a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[[\da-f:.]+\])(:\d{1,5})?(\/[!-[\]-~]*)?$/i;

/** An address without a secret: operators see the whole catalogue, addresses included. */
const providerUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine(isBare, {
    error: 'must have no user name, password, query or fragment; name a key by `apiKey`',
    abort: true,
  })
  .refine((text) => PLAIN.test(text), {
    error: 'must be `https://` or `http://`, a host, and a path of visible ASCII characters without a backslash',
  });

/** The address of the API of a vendor, with the usual one as its default. */
const apiUrl = (usual: string) =>
  providerUrl.default(usual).meta({ description: 'The address of the API, up to and including the version.' });

/** Vendors with a format of their own report usage at the end of a stream, and most of their models reason out of sight. */
const drained = onAbandon.default('drain');

export const providerSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('openai-compatible'),
      baseUrl: providerUrl,
      apis: apis.optional(),
      ...keyFields,
      ...compatibleOptions,
      ...callFields,
    }),
    z.strictObject({
      /** The provider simulator that comes with Purser, for development only. */
      kind: z.literal('simulator'),
      ...callFields,
    }),
    z.strictObject({
      /** Anthropic's Messages format. */
      kind: z.literal('anthropic'),
      baseUrl: apiUrl('https://api.anthropic.com/v1'),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
    z.strictObject({
      /** Amazon Bedrock's Converse format, and Anthropic's for Claude. Without a key, requests are signed with credentials from the environment's usual chain. */
      kind: z.literal('bedrock'),
      region: z.string().regex(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, { error: 'must be a region such as `eu-central-1`' }),
      roleArn: z
        .string()
        .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, { error: 'must be the ARN of a role' })
        .optional()
        .meta({ description: 'A role that is assumed with the credentials of the environment.' }),
      endpoint: providerUrl
        .optional()
        .meta({ description: 'The address that is used instead of that of the region, such as a VPC endpoint.' }),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
    z.strictObject({
      /** OpenAI's format at Azure. The provider's name of a model is that of its deployment. */
      kind: z.literal('azure'),
      endpoint: providerUrl.meta({
        description: 'The address of the resource, such as `https://my-resource.openai.azure.com`.',
      }),
      deployments: z.boolean().optional().meta({
        description:
          'Whether calls use the path of each deployment and a dated version, as resources had it before `/openai/v1`.',
      }),
      apiVersion: z
        .string()
        .regex(/^(v1|preview|\d{4}-\d{2}-\d{2}(-preview)?)$/, { error: 'must look like `2024-10-21` or `preview`' })
        .optional(),
      apis: apis.optional(),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
    z.strictObject({
      /** Mistral's dialect of the format. */
      kind: z.literal('mistral'),
      baseUrl: apiUrl('https://api.mistral.ai/v1'),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
    z.strictObject({
      /** Gemini's format at the Gemini API. */
      kind: z.literal('google'),
      baseUrl: apiUrl('https://generativelanguage.googleapis.com/v1beta'),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
    z.strictObject({
      /** Gemini's format on Vertex AI, and Anthropic's for Claude. A key is an access token. Without one, tokens come from credentials of Google's. */
      kind: z.literal('vertex'),
      project: z.string().regex(/^[a-z0-9][a-z0-9.:-]{0,62}$/, { error: 'must be the id or the number of a project' }),
      location: z.string().regex(/^(global|us|eu|[a-z]+-[a-z]+\d{1,2})$/, {
        error: 'must be a region such as `europe-west4`, or `global`, `us` or `eu`',
      }),
      endpoint: providerUrl.optional().meta({
        description:
          'The address that is used instead of that of the location, such as one of Private Service Connect.',
      }),
      credentialsFile: z.string().regex(/^\//, { error: 'must be an absolute path' }).optional().meta({
        description:
          'A file with the JSON of a service account or of a workload identity. Without it, the credentials of the environment are used.',
      }),
      ...keyFields,
      ...callFields,
      onAbandon: drained,
    }),
  ])
  .superRefine((provider, context) => {
    const [, second] = KEY_FIELDS.filter((field) => provider[field as keyof typeof provider] !== undefined);
    if (second === undefined) return;
    context.addIssue({
      code: 'custom',
      path: [second],
      message: 'is not allowed together with another key of the same provider',
    });
  });

export type CatalogueProvider = z.output<typeof providerSchema>;

/** The names of the keys in the settings file that a provider uses, each with the field that names it. */
export function keyNamesOf(provider: CatalogueProvider): readonly { readonly name: string; readonly field: string }[] {
  if (provider.kind === 'simulator') return [];
  const { apiKey, apiKeys = [] } = provider;
  if (apiKey !== undefined) return [{ name: apiKey, field: 'apiKey' }];
  return apiKeys.map((name, place) => ({ name, field: `apiKeys.${place}` }));
}

/** The origin that a provider's key is sent to. */
export function originOf(provider: CatalogueProvider): string | undefined {
  switch (provider.kind) {
    case 'openai-compatible':
    case 'anthropic':
    case 'google':
    case 'mistral':
      return new URL(provider.baseUrl).origin;
    case 'azure':
      return new URL(provider.endpoint).origin;
    case 'bedrock':
      return new URL(bedrockAddress(provider)).origin;
    case 'vertex':
      return new URL(vertexAddress(provider)).origin;
    case 'simulator':
      return undefined;
  }
}

/** Where Bedrock is in a region, unless the provider names another address. */
export function bedrockAddress({
  region,
  endpoint,
}: {
  readonly region: string;
  readonly endpoint?: string | undefined;
}): string {
  if (endpoint !== undefined) return endpoint.replace(/\/+$/, '');
  const partition = REGIONS_APART.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  return `https://bedrock-runtime.${region}.${partition}`;
}

const REGIONS_APART = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
] as const;

/** Where Vertex is for a location, unless the provider names another address: regions, multi-regions and `global` differ. */
export function vertexAddress({
  location,
  endpoint,
}: {
  readonly location: string;
  readonly endpoint?: string | undefined;
}): string {
  if (endpoint !== undefined) return endpoint.replace(/\/+$/, '');
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/**
 * A secret of the process's environment that the provider names itself, with the field that does so. An edit over HTTP must not
 * pair it with a new origin (MO-11).
 */
export function credentialOf(
  provider: CatalogueProvider,
): { readonly field: string; readonly value: string } | undefined {
  if (provider.kind === 'simulator') return undefined;
  if (provider.apiKeyEnv !== undefined) return { field: 'apiKeyEnv', value: provider.apiKeyEnv };
  if (keyNamesOf(provider).length > 0) return undefined;
  // A signed request and its session token are good for AWS as well.
  if (provider.kind === 'bedrock' && provider.endpoint !== undefined)
    return { field: 'endpoint', value: 'the AWS credentials of this machine' };
  if (provider.kind !== 'vertex') return undefined;
  const { credentialsFile, endpoint } = provider;
  if (credentialsFile !== undefined) return { field: 'credentialsFile', value: credentialsFile };
  // Google's own hosts may have the tokens of this machine.
  return endpoint === undefined ? undefined : { field: 'endpoint', value: 'the credentials of this machine' };
}

function isBare(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
