import { PACKAGES } from '../structure/areas.ts';

/** Who may import a package from the registry or a restricted built-in module. */
export interface ModuleUser {
  /** An area (`ledger`, `contract`, `examples`) or a file as `tools/structure/rules.ts` names it (`mail/smtp.ts`). */
  readonly place: string;
  readonly isTypeOnly?: boolean;
}

/**
 * Every package that the product uses, with its users. Tests, tools and scripts import what they like. A package that
 * is not here is restricted everywhere; so a new dependency needs a row, and a decision record that says what it saves.
 */
export const MODULES: Readonly<Record<string, readonly ModuleUser[]>> = {
  pg: [{ place: 'db' }, { place: 'embedded' }, { place: 'backup/base-copy.ts' }],
  fastify: [{ place: 'http' }, { place: 'web/development/mailbox.ts' }, { place: 'web/development/own-machine.ts' }],
  '@purser/sdk': [{ place: 'examples' }],
  '@commander-js/extra-typings': [
    { place: 'cli/run-command.ts' },
    ...['books', 'cells', 'machine', 'service'].map((name) => ({ place: `cli/${name}-commands.ts`, isTypeOnly: true })),
  ],
  openai: [{ place: 'examples/chat/answer.ts' }, { place: 'examples/chat/fault.ts' }],
  undici: [
    { place: 'webhooks/deliver.ts' },
    { place: 'cli/listener-client.ts' },
    { place: 'providers/vendor-fetch.ts' },
    { place: 'providers/dispatchers.ts' },
    { place: 'providers/credential-request.ts' },
    { place: 'price-lists/read-list.ts' },
    { place: 'probe/listed-limits.ts' },
    { place: 'reach' },
    { place: 'benchmarks' },
  ],
  '@ai-sdk/provider': [{ place: 'providers', isTypeOnly: true }],
  '@ai-sdk/anthropic': [{ place: 'providers/anthropic/dialect.ts' }],
  '@ai-sdk/amazon-bedrock': [{ place: 'providers/bedrock/dialect.ts' }],
  '@ai-sdk/google': [{ place: 'providers/google/dialect.ts' }],
  'google-auth-library': [
    { place: 'providers/google/credentials.ts' },
    { place: 'providers/google/token-transport.ts', isTypeOnly: true },
  ],
  '@aws-sdk/credential-providers': [{ place: 'providers/bedrock/credentials.ts' }],
  '@pydantic/genai-prices': [{ place: 'price-lists/second-list.ts' }],
  stripe: [
    { place: 'payments/stripe/stripe.ts' },
    { place: 'payments/stripe/report.ts' },
    { place: 'payments/stripe/balance.ts', isTypeOnly: true },
  ],
  '@simplewebauthn/server': [{ place: 'webauthn/passkey-checks.ts' }],
  'openid-client': [{ place: 'accounts/sso-client.ts' }],
  nodemailer: [{ place: 'mail/smtp.ts' }],
  'eventsource-parser': [{ place: 'providers/sse.ts' }],
  pino: [{ place: 'kernel/log.ts' }, { place: 'http', isTypeOnly: true }],
  zod: [
    { place: 'contract' },
    { place: 'catalogue' },
    { place: 'app' },
    { place: 'backup/folder.ts' },
    { place: 'http' },
    { place: 'web/development/mailbox.ts' },
    { place: 'kernel/brand.ts', isTypeOnly: true },
  ],
};

/** Built-in modules that would get round the restricted globals of `restricted.ts`. All others are free. */
export const RESTRICTED_BUILT_INS: Readonly<Record<string, readonly ModuleUser[]>> = {
  'node:process': [],
  'node:perf_hooks': [{ place: 'app' }, { place: 'kernel/clock.ts' }],
};

/** How an import of this repository begins. `tools/structure` knows which folder may import which. */
export const OWN_IMPORTS: readonly string[] = [
  '#',
  '.',
  ...PACKAGES.filter((name) => name !== 'sdk').map((name) => `@purser/${name}/`),
  '@purser/service/',
];
