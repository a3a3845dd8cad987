/**
 * Every package from the registry that the product uses, and the built-in modules that only some code may use, with the
 * areas (`ledger`) and files (`mail/smtp.ts`) that may import them. Tests, tools and scripts import what they like. A
 * package that is not here is refused everywhere, so a new dependency needs a row here and in decision 2.
 */
export const MODULES: Readonly<Record<string, string>> = {
  pg: 'db embedded backup/base-copy.ts',
  fastify: 'http web/development/mailbox.ts web/development/own-machine.ts',
  '@purser/sdk': 'examples',
  '@commander-js/extra-typings': 'cli/run-command.ts',
  qr: 'web/factors/qr-code.ts',
  marked: 'web/guides/markdown.ts',
  openai: 'examples/chat/answer.ts examples/chat/fault.ts',
  undici: `webhooks/delivery/deliver.ts cli/listen/listener-client.ts providers/transport/vendor-fetch.ts providers/transport/dispatchers.ts
    providers/transport/credential-request.ts price-lists/read-list.ts probe/listed-limits.ts doctor benchmarks`,
  '@ai-sdk/provider': '',
  '@ai-sdk/anthropic': 'providers/anthropic/dialect.ts',
  '@ai-sdk/amazon-bedrock': 'providers/bedrock/open.ts',
  '@ai-sdk/google': 'providers/google/dialect.ts',
  '@smithy/eventstream-codec': 'providers/bedrock/claude-frames.ts',
  aws4fetch: 'providers/bedrock/signature.ts',
  'google-auth-library': 'providers/google/credentials.ts',
  '@aws-sdk/credential-providers': 'providers/bedrock/credentials.ts',
  '@pydantic/genai-prices': 'price-lists/second-list.ts',
  stripe: 'payments/stripe/stripe.ts payments/stripe/report.ts',
  '@simplewebauthn/server': 'webauthn/passkey-checks.ts',
  'openid-client': 'developers/sso/client.ts',
  nodemailer: 'mail/smtp.ts',
  'eventsource-parser': 'providers/transport/sse.ts',
  pino: 'kernel/log.ts',
  zod: 'contract catalogue app backup/folder.ts http web/development/mailbox.ts',

  // With these, code would get round the restricted globals of `restricted.ts`. All other built-in modules are free.
  'node:process': '',
  'node:perf_hooks': 'app kernel/time/clock.ts',
};

/** Who may import the types of a package, and nothing else of it. */
export const TYPES_OF: Readonly<Record<string, string>> = {
  '@ai-sdk/provider': 'providers',
  'google-auth-library': 'providers/google/token-transport.ts',
  stripe: 'payments/stripe/balance.ts',
  '@commander-js/extra-typings':
    'cli/books/commands.ts cli/cells/commands.ts cli/machine/commands.ts cli/service/commands.ts',
  pino: 'http',
  zod: 'kernel/values/brand.ts',
};
