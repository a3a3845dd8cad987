import type { IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { CELL_REQUEST, type CellRequests } from '#cells/routing/cell-request.ts';
import type { OtherCell } from '#kernel/values/slot.ts';
import { Agent, request as requestHttp } from '#kernel/node-http.ts';

/** Sends requests of this gateway itself to gateways of other cells. */
export interface CellClient {
  /** Sends a signed POST. Rejects without an answer of status 200 within `waitMs`. Never sends twice. */
  readonly post: (cell: OtherCell, path: string, body: string, waitMs: number) => Promise<string>;
  readonly close: () => void;
}

/** A page of a report has ten thousand rows at most. */
const ANSWER_BYTES_MAX = 16_777_216;
/** This is shorter than a gateway keeps a silent connection. */
const IDLE_MS_MAX = 30_000;

export function createCellClient(requests: CellRequests): CellClient {
  const settings = { keepAlive: true, timeout: IDLE_MS_MAX };
  const agents = { 'http:': new Agent(settings), 'https:': new TlsAgent(settings) };
  return {
    post: ({ name, baseUrl }, path, body, waitMs) => {
      const url = new URL(baseUrl + path);
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        [CELL_REQUEST]: requests.sign(name, path, body),
      };
      const options = { method: 'POST', headers, signal: AbortSignal.timeout(waitMs) };
      return new Promise((resolve, reject) => {
        const sent =
          url.protocol === 'https:'
            ? requestTls(url, { ...options, agent: agents['https:'] })
            : requestHttp(url, { ...options, agent: agents['http:'] });
        sent.on('error', reject);
        sent.on('response', (response) => void textOf(response).then(resolve, reject));
        sent.end(body);
      });
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('The answer of the other cell is too large.');
    parts.push(part);
  }
  if (response.statusCode === 200) return Buffer.concat(parts).toString('utf8');
  throw new Error(`The other cell answers with ${response.statusCode}.`);
}
