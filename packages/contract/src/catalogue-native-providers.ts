import { z } from 'zod';

/** Kinds of providers that speak a vendor's own format. Requests and answers are translated. */

/** Most of their models reason out of sight, and a stream that is cancelled reports no usage. */
const onAbandon = z.enum(['cancel', 'drain']).default('drain');

const address = z.url({ protocol: /^https?$/ }).refine(isBare, {
  error: 'must have no user name, password, query or fragment',
});

/** The environment variable that contains the key. */
const apiKeyEnv = z.string().regex(/^[A-Z][A-Z0-9_]*_API_KEY$/, {
  error: 'must be capital letters, digits and `_`, and end in `_API_KEY`',
});

/** Anthropic's Messages format. */
const anthropic = z.strictObject({
  kind: z.literal('anthropic'),
  /** Up to and including the version. */
  baseUrl: address.default('https://api.anthropic.com/v1'),
  apiKeyEnv,
  onAbandon,
});

/** Amazon Bedrock's Converse format. */
const bedrock = z.strictObject({
  kind: z.literal('bedrock'),
  region: z.string().regex(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, { error: 'must be a region such as `eu-central-1`' }),
  /** A key of Bedrock's own. Without it, requests are signed with credentials from the environment's usual chain. */
  apiKeyEnv: apiKeyEnv.optional(),
  /** A role that is assumed with those credentials. */
  roleArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, { error: 'must be the ARN of a role' })
    .optional(),
  /** Instead of the region's own address, such as that of a VPC endpoint. */
  endpoint: address.optional(),
  onAbandon,
});

export const nativeProviders = [anthropic, bedrock] as const;

function isBare(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text);
}
