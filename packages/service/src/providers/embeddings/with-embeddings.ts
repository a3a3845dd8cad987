import type { Provider, ProviderCall } from '#providers/port/provider.ts';

/** A provider that makes embeddings as well, in another way: only a caller of that interface asks for them. */
export function withEmbeddings(others: Provider, embeddings: Provider): Provider {
  const of = ({ native }: ProviderCall): Provider => (native?.api === 'embeddings' ? embeddings : others);
  return {
    complete: (call) => of(call).complete(call),
    stream: (call, signal) => of(call).stream(call, signal),
    countPrompt: async (call) => of(call).countPrompt?.(call),
  };
}

export function neverStreamed(): never {
  throw new Error('Embeddings are not streamed.');
}
