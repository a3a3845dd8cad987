// The provider of a soak, in its own process. The prompt says how it answers.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { completionBody, frame, streamSteps } from '../../support/scripted-upstream.ts';
import { obey } from './actor.ts';

const CHUNK_EVERY_MS = 1_000;
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const FACTS = { model: 'm', usage: USAGE };
const HEAD = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
const writes = streamSteps({ ...FACTS, pieces: ['H'], includeUsageChunk: true }).map(({ write }) => write);
const [first = '', piece = '', ...ending] = writes;
/** The write is large, so that the kernel's buffers on both sides, megabytes for each stream, fill up quickly. */
const FLOOD = frame({ ...HEAD, choices: [{ index: 0, delta: { content: 'a'.repeat(200_000) }, finish_reason: null }] });

const slow = new Set<ServerResponse>();

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => void parts.push(part));
  request.on('end', () => {
    const text = Buffer.concat(parts).toString('utf8');
    const isStream = text.includes('"stream":true');
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
    if (!isStream) response.end(completionBody({ ...FACTS, content: 'H' }));
    else if (text.includes('flood')) flood(response);
    else trickle(response);
  });
});

/** Keeps sending until it is told to finish. */
function trickle(response: ServerResponse): void {
  response.write(first);
  slow.add(response);
  const timer = setInterval(() => response.write(piece), CHUNK_EVERY_MS);
  response.on('close', () => {
    clearInterval(timer);
    slow.delete(response);
  });
}

/** Sends as much as the reader takes. */
function flood(response: ServerResponse): void {
  const fill = (): void => {
    while (!response.destroyed && response.write(FLOOD));
  };
  response.on('drain', fill);
  fill();
}

obey({
  listen: async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  },
  finish: () => {
    for (const response of slow) response.end(ending.join(''));
  },
});
