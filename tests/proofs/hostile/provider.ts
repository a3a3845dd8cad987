import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';

/** The usage in every answer, so that every answered call costs the same. */
export const USAGE = { prompt: 3, completion: 1 };

const FACTS = {
  model: 'm',
  usage: {
    prompt_tokens: USAGE.prompt,
    completion_tokens: USAGE.completion,
    total_tokens: USAGE.prompt + USAGE.completion,
  },
};
const KEPT_MS = 600_000; // Never closes a connection just as it is used again, which would force the service to answer 502.

interface Asked {
  readonly stream?: unknown;
  /** That of embeddings. */
  readonly input?: string | readonly unknown[];
}

/** A vector for each text. A list of numbers is one text, as the numbers of its tokens. */
function vectorsFor(input: string | readonly unknown[]): string {
  const texts = typeof input === 'string' || typeof input[0] === 'number' ? [input] : input;
  const data = texts.map((_, index) => ({ object: 'embedding', index, embedding: [1, -1] }));
  return JSON.stringify({ object: 'list', data, usage: { prompt_tokens: USAGE.prompt, total_tokens: USAGE.prompt } });
}

/** A provider that answers every request at once and stores none of them, for runs of any length. */
export async function startPlainProvider() {
  const plain = completionBody({ ...FACTS, content: 'H' });
  const stream = streamSteps({ ...FACTS, pieces: ['H'], includeUsageChunk: true }).map(({ write }) => write);
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      // The service sends JSON even if its caller did not. Otherwise this throws, and the run ends.
      const { stream: isStream, input } = JSON.parse(Buffer.concat(parts).toString('utf8')) as Asked;
      response.setHeader('content-type', isStream === true ? 'text/event-stream' : 'application/json');
      response.end(isStream === true ? stream.join('') : input === undefined ? plain : vectorsFor(input));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
