// A stream may be open for minutes. It must not keep its request all that time, which may be a whole book.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request } from 'node:http';
import { after } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { listenOnLoopback } from '../../../packages/simulator/src/simulator.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { frame } from '../../support/scripted-upstream.ts';
import { startTestService } from '../../support/service.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { eachWire, type SpokenWire } from '../../support/wires.ts';

const STREAMS = 50;
const CHARACTERS = 400 * 1024;
/** Sockets and parsers of all three sides and the rest of what a stream needs: far less than one copy of its body. */
const KEPT_BYTES_MAX = CHARACTERS / 4;

/** Its streams begin and stay open. It keeps no request, because it runs in the process that is measured. */
const provider = createServer((incoming, response) => {
  incoming.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(
      frame({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Well' }, finish_reason: null }] }),
    );
  });
});
const port = await listenOnLoopback(provider, 0);
const model = { contextTokens: 4_000_000, timeoutMs: 600_000 };
const service = await startTestService(catalogueAt(`http://127.0.0.1:${port}/v1`, model));
after(async () => {
  provider.closeAllConnections();
  provider.close();
  await service.close();
});
const app = await service.addApp({ maxStreamsPerUser: STREAMS });

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The memory in use, on and off the heap. */
function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** All calls share one body, so that the callers' own copies do not count. */
function bodyOf({ promptOf }: SpokenWire, character: string): Buffer {
  return Buffer.from(JSON.stringify({ model: 'large', stream: true, ...promptOf(character.repeat(CHARACTERS)) }));
}

async function openStream({ path }: SpokenWire, user: string, body: Buffer): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${app.liveKey}`, 'x-service-user': user };
  const sent = request(service.url + path, { method: 'POST', agent: false, headers });
  sent.end(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
  assert.equal(answer.statusCode, 200);
  await new Promise((resolve) => answer.once('data', resolve));
  return answer;
}

for (const [what, character] of [
  ['ASCII', 'x'],
  ['Cyrillic', 'ж'],
] as const) {
  eachWire.test(`an open stream keeps no copy of its request in ${what}`, async (wire, t) => {
    const user = `${what}-${wire.name.length}`;
    await service.fund(app, user, 1_000_000_000_000);
    const body = bodyOf(wire, character);
    const leave: IncomingMessage[] = [await openStream(wire, user, body)]; // The first stream pays for everything that is allocated once.
    const before = bytesInUse();
    for (let stream = 0; stream < STREAMS - 1; stream += 1) leave.push(await openStream(wire, user, body));
    // What else the process does may hold memory for a moment. A copy of the request would stay.
    const kept = await waitUntil('no copy stays', () => {
      const bytes = (bytesInUse() - before) / (STREAMS - 1);
      return bytes < KEPT_BYTES_MAX && bytes;
    });
    t.diagnostic(`${Math.round(kept / 1024)} KiB an open stream, whose request has ${Math.round(body.length / 1024)}`);
    for (const answer of leave) answer.destroy();
    await waitUntil('they have ended', async () => (await service.wallet(app, user)).held === 0);
  });
}
