import { z } from 'zod';
import type { CatalogueProvider } from './catalogue-providers.ts';

/** The two names of the output limit in the compatible format. */
export const outputLimitParameter = z.enum(['max_tokens', 'max_completion_tokens']).meta({
  description: 'The parameter with which the provider is sent the output limit. The default depends on the provider.',
});

/** Kinds that serve OpenAI's models. Other kinds know `max_tokens`, or have a format of their own. */
const OPENAI_KINDS: ReadonlySet<string> = new Set(['azure', 'simulator']);
const OPENAI_HOST = /^(?:(?:[a-z]+\.)?api\.openai\.com|.+\.(?:openai|services\.ai)\.azure\.com)$/;

/**
 * The name of the limit that a provider is sent unless the catalogue says otherwise. Every server of the format knows
 * `max_tokens`, except that OpenAI's reasoning models reject it, which is seen at once. Many servers ignore
 * `max_completion_tokens` without a word, and a limit that is ignored is seen on the bill.
 */
export function defaultOutputLimitParameter(provider: CatalogueProvider): 'max_tokens' | 'max_completion_tokens' {
  const isOpenAi =
    provider.kind === 'openai-compatible'
      ? OPENAI_HOST.test(URL.parse(provider.baseUrl)?.hostname ?? '')
      : OPENAI_KINDS.has(provider.kind);
  return isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}
