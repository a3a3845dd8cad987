import { z } from 'zod';

/** The interfaces of OpenAI's format that a provider may serve. Other kinds of providers have one of their own. */
export const apis = z
  .array(z.enum(['chat', 'responses']))
  .min(1)
  .refine((listed) => new Set(listed).size === listed.length, { error: 'must name each interface once' })
  .meta({
    description:
      'What the provider serves: `chat` (the default) is chat completions, `responses` is Responses. With both, calls of Responses go out as they came, and others as chat completions.',
  });

/** The kinds of providers that may serve either. */
export const KINDS_WITH_APIS: ReadonlySet<string> = new Set(['openai-compatible', 'azure']);

/** One of them. */
export type Api = z.output<typeof apis>[number];

const CHAT_ALONE: readonly Api[] = ['chat'];

interface Stating {
  readonly apis?: readonly Api[] | undefined;
}

/** What an upstream serves: the narrowest entry that says so decides. */
export function apisOf(provider: object, model?: Stating, upstream?: Stating): readonly Api[] {
  const { apis } = provider as Stating;
  return upstream?.apis ?? model?.apis ?? apis ?? CHAT_ALONE;
}
