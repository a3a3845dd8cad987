import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, malformed, sendError } from './api-error.ts';
import { BEHAVIOURS, findBehaviour } from './behaviours.ts';
import { parseChatRequest } from './chat-request.ts';
import { EMBEDDER, embeddingsBody, parseEmbeddingsRequest } from './embeddings.ts';

// An import of it would load `fetch` and `WebSocket` too: 80 ms and 16 MB, in Node 26.
const { createServer } = process.getBuiltinModule('node:http');

const BODY_BYTES_MAX = 2 * 1024 * 1024;
// Read on before the refusal: Node resets the connection after an early answer, and a client still sending would not see it.
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const CHAT_MODELS = Object.keys(BEHAVIOURS);
const MODELS: readonly string[] = [...CHAT_MODELS, EMBEDDER.model];
const MODELS_CREATED_SECONDS = 1_767_225_600; // 2026-01-01, the same in every run.

/**
 * Creates a provider of the compatible format, chat completions and embeddings, that calls no model. It does not listen yet, see
 * `listenOnLoopback`. Every request gets an answer or an error in the format, and none can bring the server down.
 */
export function createSimulator(): Server {
  return createServer((request, response) => void handle(request, response));
}

/** Listens on 127.0.0.1 only and resolves to the port. Port 0 takes a free one. Rejects if the port is in use. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Routes a request and turns every fault into an answer. Once the headers are sent, all that is left is to cut it. */
async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on('error', () => {}); // `close` follows and is enough. An error without a listener would end the process.
  response.on('close', () => gone.abort());
  response.setHeader('x-request-id', `req_sim_${randomUUID()}`);
  try {
    await route(request, response, gone.signal);
  } catch (fault) {
    if (gone.signal.aborted) return;
    if (response.headersSent) response.destroy();
    else sendError(response, fault instanceof ApiError ? fault : faultOfOurs());
  }
}

async function route(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
  requireBearer(request);
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  if (path === '/v1/chat/completions') {
    requireMethod(request, 'POST');
    await completeChat(request, response, signal);
  } else if (path === '/v1/embeddings') {
    requireMethod(request, 'POST');
    await embed(request, response);
  } else if (path === '/v1/models') {
    requireMethod(request, 'GET');
    sendJson(response, { object: 'list', data: MODELS.map(modelBody) });
  } else if (path.startsWith('/v1/models/')) {
    requireMethod(request, 'GET');
    const id = path.slice('/v1/models/'.length);
    if (!MODELS.includes(id)) throw unknownModel(id, MODELS);
    sendJson(response, modelBody(id));
  } else {
    throw new ApiError({ status: 404, type: 'invalid_request_error', message: `There is nothing at \`${path}\`.` });
  }
}

async function completeChat(incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const request = parseChatRequest(await readText(incoming));
  const behaviour = findBehaviour(request.model);
  if (behaviour === undefined) throw unknownModel(request.model, CHAT_MODELS);
  await behaviour.perform({ request, response, signal });
}

async function embed(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = parseEmbeddingsRequest(await readText(incoming));
  if (request.model !== EMBEDDER.model) throw unknownModel(request.model, [EMBEDDER.model]);
  sendJson(response, embeddingsBody(request));
}

/** Reads a body as UTF-8. Invalid bytes are refused, not replaced. */
async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    byteCount += chunk.length;
    if (byteCount <= BODY_BYTES_MAX) chunks.push(chunk);
    if (byteCount > DISCARDED_BYTES_MAX) break;
  }
  if (byteCount > BODY_BYTES_MAX) throw bodyTooLarge();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw malformed('', 'The body is not UTF-8.');
  }
}

/** Any key will do, but one must be sent: an app that forgets it finds out here and not in production. */
function requireBearer(request: IncomingMessage): void {
  if (/^bearer +\S/iu.test(request.headers.authorization ?? '')) return;
  const message = 'No key was sent. Any will do: `authorization: Bearer anything`.';
  throw new ApiError({ status: 401, type: 'authentication_error', code: 'invalid_api_key', message });
}

function requireMethod(request: IncomingMessage, method: 'GET' | 'POST'): void {
  if (request.method === method) return;
  const message = `This address only accepts \`${method}\`.`;
  throw new ApiError({ status: 405, type: 'invalid_request_error', message, headers: { allow: method } });
}

function unknownModel(model: string, models: readonly string[]): ApiError {
  const message = `There is no model \`${model.slice(0, 64)}\`. Models: ${models.join(', ')}.`;
  return new ApiError({ status: 404, type: 'invalid_request_error', param: 'model', code: 'model_not_found', message });
}

function bodyTooLarge(): ApiError {
  const message = `The body is larger than ${BODY_BYTES_MAX} bytes.`;
  return new ApiError({ status: 413, type: 'invalid_request_error', message });
}

function faultOfOurs(): ApiError {
  return new ApiError({
    status: 500,
    type: 'server_error',
    message: 'The simulator failed. This request has found a bug in it.',
  });
}

/** A model as the list shows it. The fixed date keeps answers the same from run to run. */
function modelBody(id: string): object {
  return { id, object: 'model', created: MODELS_CREATED_SECONDS, owned_by: 'purser-simulator' };
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
