import type { StreamedResponse } from '../streamed-response.ts';

/**
 * A function that reads the body piece by piece: each call gives all the text that waits, or else the next piece that
 * arrives; undefined at the end. Between two calls nothing listens, so text waits in the response.
 */
export function bodyReader({ listen }: StreamedResponse): () => Promise<string | undefined> {
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
