import { z } from 'zod';

const EMBEDDINGS = 'embeddings';

/** The interfaces of OpenAI's format that a provider may serve. Other kinds of providers have one of their own. */
export const apis = z
  .array(z.enum(['chat', 'responses', EMBEDDINGS]))
  .min(1)
  .refine((listed) => new Set(listed).size === listed.length, { error: 'must name each interface once' })
  .refine((listed) => listed.length === 1 || !listed.includes(EMBEDDINGS), {
    error: 'must have `embeddings` alone: such a model answers with vectors, and no other interface has them',
  })
  .meta({
    description:
      'What the provider serves: `chat` (the default) is chat completions, `responses` is Responses. With both, calls of Responses go out as they came, and others as chat completions. `embeddings` is for models of embeddings, and stands alone.',
  });

/** The kinds of providers that may serve text by either. */
export const KINDS_WITH_APIS: ReadonlySet<string> = new Set(['openai-compatible', 'azure']);

/** The kinds that make embeddings beside the one interface that they have for text. */
const KINDS_WITH_EMBEDDINGS: ReadonlySet<string> = new Set(['mistral', 'google', 'vertex', 'bedrock', 'simulator']);

/** Whether a kind of providers can be called by these interfaces of the format. */
export function canServe(kind: string, listed: readonly Api[]): boolean {
  return KINDS_WITH_APIS.has(kind) || (KINDS_WITH_EMBEDDINGS.has(kind) && isOfEmbeddings(listed));
}

/** Whether a model that is served so makes embeddings. */
export function isOfEmbeddings(listed: readonly string[]): boolean {
  return listed.includes(EMBEDDINGS);
}

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
