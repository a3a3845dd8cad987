import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { MARKER } from '../../packages/service/src/cells/routing/marker.ts';
import { CELL_REQUEST } from '../../packages/service/src/cells/routing/cell-request.ts';
import { type DocumentCheck, documentCheck } from './document.ts';

/** How many answers are checked per operation and status. Tests with a thousand calls mostly get the same answer. */
const ANSWERS_MAX = 300;
const FAULTS_MAX = 20;

/** Compares the answers of the service at this address, in this process, with its own document. So every test file checks the document too. */
export async function watchAnswers(url: string) {
  const answer = await fetch(`${url}/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
  const check = checkOf(await answer.text());
  const watched = { check, seen: new Map<string, number>(), faults: new Set<string>() };
  watchedPorts.set(Number(new URL(url).port), watched);
  return {
    /** Fails if an answer differed from the document. */
    assertDocumented: () => {
      watchedPorts.delete(Number(new URL(url).port));
      assert.deepEqual([...watched.faults], [], 'every answer is as the document says');
    },
  };
}

const checks = new Map<string, DocumentCheck>();

/** Compiling its schemas is costly, and most services of a process have the same document. */
function checkOf(text: string): DocumentCheck {
  const check = checks.get(text) ?? documentCheck(text);
  checks.set(text, check);
  return check;
}

interface Watched {
  readonly check: DocumentCheck;
  readonly seen: Map<string, number>;
  readonly faults: Set<string>;
}

const watchedPorts = new Map<number, Watched>();

subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
  const watched = watchedPorts.get(request.socket.localPort ?? 0);
  if (watched !== undefined) collect(response, (sent) => judge(watched, request, response, sent));
});

interface Sent {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Returns headers and body once everything was sent. An answer that breaks off is not judged. */
function collect(response: ServerResponse, onSent: (sent: Sent) => void): void {
  const parts: Buffer[] = [];
  const head: Record<string, unknown> = {};
  const writeHead = response.writeHead.bind(response) as (...words: unknown[]) => never;
  response.writeHead = (...words: unknown[]) => {
    // Alternating names and values, which a response does not keep.
    const pairs: readonly unknown[] = words.find(Array.isArray) ?? [];
    for (let at = 0; at < pairs.length; at += 2) head[String(pairs[at])] = pairs[at + 1];
    return writeHead(...words);
  };
  const keep = (part: unknown): void => {
    if (typeof part === 'string' || part instanceof Uint8Array) parts.push(Buffer.from(part));
  };
  for (const name of ['write', 'end'] as const) {
    const send = response[name].bind(response) as (...words: unknown[]) => never;
    response[name] = (...words: unknown[]) => {
      keep(words[0]);
      return send(...words);
    };
  }
  response.once('finish', () => {
    const sent = Buffer.concat(parts);
    onSent({ headers: { ...response.getHeaders(), ...head }, text: decoded(sent, response).toString('utf8') });
  });
}

/** What a client reads of an answer. An answer to `HEAD` names a coding and has no body. */
function decoded(sent: Buffer, response: ServerResponse): Buffer {
  if (sent.length === 0) return sent;
  const coding = response.getHeader('content-encoding');
  if (coding === 'br') return brotliDecompressSync(sent);
  return coding === 'gzip' ? gunzipSync(sent) : sent;
}

/** An error in the comparison also counts as a fault. Throwing it here would break the server's answer and hang its caller. */
function faultIn(check: DocumentCheck, answer: Parameters<DocumentCheck['faultOf']>[0]): string | undefined {
  try {
    return check.faultOf(answer);
  } catch (fault) {
    return `cannot be judged: ${String(fault)}`;
  }
}

function judge(
  { check, seen, faults }: Watched,
  request: IncomingMessage,
  response: ServerResponse,
  { headers, text }: Sent,
) {
  // For a proxy, which repeats the request at another gateway. No caller reads it.
  if (response.statusCode === 503 && request.headers['x-service-elsewhere'] !== undefined) return;
  // For another cell. The document tells callers nothing of cells.
  if (headers[MARKER] !== undefined) return;
  const method = request.method ?? '';
  const target = (request.url ?? '/').replace(/^https?:\/\/[^/?#]*/i, '');
  const path = target.split('?', 1)[0] ?? '';
  const body = method === 'HEAD' ? '' : text; // Node leaves it out.
  const answer = { method, path, status: response.statusCode, headers, text: body };
  if (request.headers[CELL_REQUEST] !== undefined) return; // From a cell. The document is for callers.
  const name = `${check.operationOf(answer)} ${answer.status}`;
  const count = seen.get(name) ?? 0;
  seen.set(name, count + 1);
  if (count >= ANSWERS_MAX || faults.size >= FAULTS_MAX) return;
  const fault = faultIn(check, answer);
  if (fault !== undefined) faults.add(`${name}: ${fault}`);
}
