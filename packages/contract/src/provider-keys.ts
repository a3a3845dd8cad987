import { z } from 'zod';
import { keyName, keyVariable } from './catalogue-providers.ts';

/**
 * The settings file of provider keys: how each key is had, and which hosts it may be sent to (MO-11). It contains no key.
 * The catalogue names these keys and cannot change them.
 */

const SECONDS_MAX = 86_400;
const ARGUMENTS_MAX = 64;
const HOSTS_MAX = 64;

/**
 * A host, such as `api.example.com`, `*.example.com` or `api.example.com:8443`. It may have `http://` or `https://`
 * before it. Without one, HTTPS is used.
 */
const host = z
  .string()
  .max(300)
  .refine((text) => originPatternOf(text) !== undefined, {
    error: 'must be a host such as `api.example.com`, `*.example.com` or `http://127.0.0.1:8080`, without a path',
  });
const hosts = z.array(host).min(1).max(HOSTS_MAX);
const file = z.string().regex(/^\//, { error: 'must be an absolute path' });

const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { error: 'must be an id or a domain' });
const entraFields = {
  /** What the token is for. */
  scope: z
    .string()
    .regex(/^[\x21-\x7e]+\/\.default$/, { error: 'must end in `/.default`' })
    .default('https://cognitiveservices.azure.com/.default'),
};
const registration = {
  ...entraFields,
  tenant: identifier,
  client: identifier,
  /** Where tokens are had. Other clouds have another one. */
  authority: z.url({ protocol: /^https?$/ }).default('https://login.microsoftonline.com'),
};

/** How a token of Microsoft Entra is had: by a client's secret, by a token of the cluster in a file, or by the identity of the machine. */
const entraSchema = z.union(
  [
    z.strictObject({ ...registration, secretEnv: keyVariable }),
    z.strictObject({ ...registration, secretFile: file }),
    z.strictObject({ ...registration, assertionFile: file }),
    z.strictObject({ ...entraFields, managedIdentity: z.literal(true), client: identifier.optional() }),
  ],
  {
    error:
      'must have `tenant`, `client` and one of `secretEnv`, `secretFile`, `assertionFile`, or `managedIdentity: true`',
  },
);

const providerKeySchema = z.union(
  [
    z.strictObject({ hosts, env: keyVariable }),
    z.strictObject({ hosts, file }),
    z.strictObject({
      hosts,
      /** A program and its arguments. No shell reads them. Its output is the key. */
      command: z.tuple([file], z.string().max(4_096)).refine((words) => words.length <= ARGUMENTS_MAX, {
        error: `must have at most ${ARGUMENTS_MAX} words`,
      }),
      /** How long its output is used. */
      seconds: z.int().min(1).max(SECONDS_MAX).default(300),
    }),
    z.strictObject({ hosts, entra: entraSchema }),
  ],
  { error: 'must have `hosts` and one of `env`, `file`, `command` (with `seconds`), `entra`, each of the right form' },
);

export const providerKeysSchema = z.record(keyName, providerKeySchema);

export type EntraDefinition = z.output<typeof entraSchema>;
export type ProviderKeyDefinition = z.output<typeof providerKeySchema>;
export type ProviderKeyDefinitions = Readonly<Record<string, ProviderKeyDefinition>>;

interface OriginPattern {
  readonly url: URL;
  /** The host may be any name below this one. */
  readonly isBelow: boolean;
}

function originPatternOf(text: string): OriginPattern | undefined {
  const [, scheme = 'https://', wildcard, name] = /^(https?:\/\/)?(\*\.)?([^/?#@*\s\\]+)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const url = URL.parse(scheme + name);
  return url === null ? undefined : { url, isBelow: wildcard !== undefined };
}

/** Whether one of a key's hosts is this origin: the same scheme, port and host, or a host below the wildcard's. */
export function mayBeSentTo(definition: Pick<ProviderKeyDefinition, 'hosts'>, origin: string): boolean {
  const to = new URL(origin);
  return definition.hosts.some((one) => {
    const pattern = originPatternOf(one);
    if (pattern?.url.protocol !== to.protocol || pattern.url.port !== to.port) return false;
    return pattern.isBelow ? to.hostname.endsWith(`.${pattern.url.hostname}`) : to.hostname === pattern.url.hostname;
  });
}
