// The provider of a roll: a chunk of a stream every second, and a note of every call that it was asked for. Run as a process.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { startArgument } from '../../../benchmarks/support/worker.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';

/** What it was asked for: how many calls, and the tags of those that came more than once. */
export interface ProviderFacts {
  readonly asked: number;
  readonly twice: readonly string[];
}

interface ProviderOptions {
  /** The port. With 0, and by default, it is any free one. */
  readonly port?: number;
  /** Milliseconds between two chunks of a stream. */
  readonly chunkMs?: number;
}

const { port = 0, chunkMs = 1_000 } = startArgument() as ProviderOptions;
const USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const PLAIN_MS = 20;
const CHUNKS = { least: 10, most: 25 };
/** A call names itself in its prompt. */
const TAG = /call-[a-z]-\d+/;

const asked = new Map<string, number>();
const plain = completionBody({ model: 'roll-upstream', content: 'Whole.', usage: USAGE });

// A gateway may keep an idle connection for longer than the five seconds of Node. On a busy machine the two would meet.
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  let body = '';
  request.on('data', (part) => void (body += String(part)));
  request.on('error', () => {});
  response.on('error', () => {});
  request.on('end', () => {
    if (request.method === 'GET') {
      const twice = Array.from(asked).flatMap(([tag, times]) => (times > 1 ? [tag] : []));
      return void response.end(JSON.stringify({ asked: asked.size, twice } satisfies ProviderFacts));
    }
    const tag = TAG.exec(body)?.[0] ?? 'unnamed';
    asked.set(tag, (asked.get(tag) ?? 0) + 1);
    void (body.includes('"stream":true') ? sendStream(response) : sendPlain(response));
  });
});
server.listen(port, '127.0.0.1', () =>
  console.log(`The provider is at http://127.0.0.1:${(server.address() as AddressInfo).port} now`),
);
process.once('disconnect', () => process.exit());

async function sendPlain(response: ServerResponse): Promise<void> {
  await pause(PLAIN_MS);
  response.setHeader('content-type', 'application/json').end(plain);
}

async function sendStream(response: ServerResponse): Promise<void> {
  const count = CHUNKS.least + Math.floor(Math.random() * (CHUNKS.most - CHUNKS.least + 1));
  const pieces = Array.from({ length: count }, (_, index) => ` word ${index}`);
  const steps = streamSteps({ model: 'roll-upstream', pieces, usage: USAGE, includeUsageChunk: true });
  response.setHeader('content-type', 'text/event-stream');
  for (const { write } of steps) {
    response.write(write);
    await pause(chunkMs);
    if (response.destroyed) return;
  }
  response.end();
}
