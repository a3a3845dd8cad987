// Plays the gateway of another cell.
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { envelopeOf, faultRefusal } from '../../../packages/service/src/http/answers/envelope.ts';
import type { CorrelationId } from '../../../packages/service/src/kernel/values/ids.ts';
import { refuse } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { send } from '../../support/client.ts';
import type { TwoCells } from './two-cells.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Plays the gateway of c2 for requests that c1 forwards. */
export async function standIn(t: TestContext, cells: TwoCells, answer: (response: ServerResponse) => void) {
  const { c1, c2, app } = cells;
  const [heads, bodies]: [IncomingMessage[], string[]] = [[], []];
  const address = await listenAt(t, (request, response) => {
    heads.push(request);
    request.setEncoding('utf8');
    request.on('data', (part: string) => void bodies.push(part));
    request.on('end', () => answer(response));
  });
  t.after(() => cells.setAddress('c1', 'c2', c2.url));
  await cells.setAddress('c1', 'c2', address);
  await waitUntil('c1 has the address', async () => {
    await send('/balance', { url: c1.url, key: app.liveKey, user: cells.userOf('c2') }).catch(() => undefined);
    return heads.length > 0;
  });
  return { heads, bodies };
}

/** Hands on what c2 asks c1, after `before`. Answers that are lost leave c1, and never come to c2. */
export async function standBetween(
  t: TestContext,
  cells: TwoCells,
  before: (path: string) => Promise<void> | void,
  isLost: (path: string) => boolean = () => false,
): Promise<void> {
  const { c1, c2 } = cells;
  let asked = 0;
  const address = await listenAt(t, (request, response) => {
    const { url: path = '', method, headers } = request;
    const handOn = async () => {
      asked += 1;
      await before(path);
      const sent = requestHttp(`${c1.url}${path}`, { method, headers }, (answer) => {
        if (isLost(path)) {
          response.destroy();
          return;
        }
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(sent);
    };
    handOn().catch((fault: unknown) => response.destroy(fault as Error));
  });
  t.after(() => cells.setAddress('c2', 'c1', c1.url));
  await cells.setAddress('c2', 'c1', address);
  await waitUntil('c2 has the address', async () => {
    await send('/balance', { url: c2.url, key: cells.app.liveKey, user: cells.userOf('c1') });
    return asked > 0;
  });
}

async function listenAt(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An answer that the document has, with a header of the connection. */
export function answerFault(response: ServerResponse): void {
  const isOfCall = response.req.url?.startsWith('/calls/') === true;
  const refusal = isOfCall ? refuse('NOT_FOUND', 'There is no such call.') : faultRefusal();
  const correlationId = String(response.req.headers['x-correlation-id']);
  response.writeHead(isOfCall ? 404 : 500, {
    connection: 'x-theirs',
    'x-theirs': 'hop',
    'x-service-call-id': 'one',
    'x-correlation-id': correlationId,
    'x-request-id': correlationId,
    'content-type': 'application/json; charset=utf-8',
  });
  response.end(JSON.stringify(envelopeOf(refusal, correlationId as CorrelationId)));
}
