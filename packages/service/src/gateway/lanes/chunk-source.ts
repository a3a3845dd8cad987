import type { ChunkSource, StreamChunk } from '#providers/port/provider.ts';

/** A source of chunks that are made here and read from nowhere: for the sandbox, and for tests. */
export function sourceOf(made: AsyncIterable<readonly StreamChunk[]>): ChunkSource {
  const chunks = made[Symbol.asyncIterator]();
  return {
    isWhole: () => false,
    first: async () => {
      const result = await chunks.next();
      return result.done === true ? undefined : result.value;
    },
    rest: async (take) => {
      for (;;) {
        const result = await chunks.next();
        if (result.done === true || !(await take(result.value))) return;
      }
    },
  };
}
