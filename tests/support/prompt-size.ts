// How large the prompt of a body is, worked out independently of the service's code: from the body as it is written anew.

/** Fields that the provider does not get as they came. */
const OURS = new Set(['model', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options', 'metadata', 'user']);

/** The bytes that the provider gets of a body, without what the service decides. Each of its tokens is one of them at least (WA-07). */
export function sentBytesOf(body: string): number {
  const fields = Object.entries(JSON.parse(body) as object).filter(
    ([name, value]) => !OURS.has(name) && value !== null,
  );
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(fields)));
}

/** A token for every four bytes of the names and texts in messages, tools and response format, and for each number or word. */
export function estimatedPromptOf(body: string): number {
  const { messages, tools, response_format: format } = JSON.parse(body) as Record<string, unknown>;
  const written = JSON.stringify([messages, tools ?? [], format ?? {}]);
  let bytes = 0;
  for (const [text] of written.matchAll(/"(?:[^"\\]|\\.)*"|true|false|-?[0-9][0-9.eE+-]*/g)) {
    bytes += text.startsWith('"') ? Buffer.byteLength(JSON.parse(text) as string) : 4;
  }
  return Math.ceil(bytes / 4);
}
