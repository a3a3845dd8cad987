const NAMES: Readonly<Record<string, string>> = {
  chat: 'Chat completions',
  responses: 'Responses',
  messages: 'Messages',
  embeddings: 'Embeddings',
};

/** The interface by which a call came, as pages call it. One of a newer version keeps its own name. */
export function wireName(wire: string): string {
  return NAMES[wire] ?? wire;
}
