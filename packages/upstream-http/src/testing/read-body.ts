import type { OpenAnswer } from '../../packages/service/src/providers/http/open-exchange.ts';

/** Reads an answer part by part: what has come since the last read, and if nothing, what comes next; undefined at its end. */
export function readerOf({ listen }: OpenAnswer): () => Promise<string | undefined> {
  return () =>
    new Promise((resolve, reject) => {
      listen({
        onText: (text) => {
          listen(undefined);
          resolve(text);
          return true;
        },
        onEnd: () => resolve(undefined),
        onError: reject,
      });
    });
}
