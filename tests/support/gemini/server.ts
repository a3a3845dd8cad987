// A server of the Gemini wire, for the Gemini API and for Vertex. It is strict where Google is, and shares nothing with the adapter.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFault } from './check-request.ts';
import {
  FAILURES,
  type GeminiAnswer,
  type GeminiFailure,
  type GoogleError,
  invalidArgument,
  type Json,
  type Part,
  type UsageMetadata,
} from './wire.ts';

export interface GeminiRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

type Script = GeminiAnswer | GeminiFailure | ((request: GeminiRequest) => GeminiAnswer | GeminiFailure);

export interface GeminiServer {
  readonly origin: string;
  /** Valid and refused requests, in the order of their arrival. */
  readonly requests: readonly GeminiRequest[];
  /** What it answers from now on. */
  readonly script: (next: Script) => void;
  readonly close: () => Promise<void>;
}

interface GeminiServerOptions {
  /** The only API key that it takes. */
  readonly apiKey?: string;
  /** Vertex: the project and location that it serves, and whether it takes this bearer token now. */
  readonly vertex?: {
    readonly project: string;
    readonly location: string;
    readonly takesToken: (token: string) => boolean;
  };
}

const PATH = /^(.*)\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Listens on a free port of 127.0.0.1 until `close`. */
export async function startGeminiServer({ apiKey, vertex }: GeminiServerOptions): Promise<GeminiServer> {
  const requests: GeminiRequest[] = [];
  const signatures = new Set<string>();
  const prefix =
    vertex === undefined ? '/v1beta' : `/v1/projects/${vertex.project}/locations/${vertex.location}/publishers/google`;
  let next: Script = { error: FAILURES.internal };

  const stranger = (headers: IncomingHttpHeaders): GoogleError | undefined => {
    if (vertex !== undefined) {
      const [, token = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
      return vertex.takesToken(token) ? undefined : FAILURES.tokenRefused;
    }
    if (headers['x-goog-api-key'] === undefined) return FAILURES.keyMissing;
    return headers['x-goog-api-key'] === apiKey ? undefined : FAILURES.keyInvalid;
  };

  const server = createServer((incoming, response) => {
    void readBody(incoming).then((text) => {
      const url = new URL(incoming.url ?? '', 'http://gemini.test');
      const [, begin, model = '', method] = PATH.exec(url.pathname) ?? [];
      if (incoming.method !== 'POST' || begin !== prefix) return refuse(response, FAILURES.notFound);
      const isStream = method === 'streamGenerateContent';
      const body = JSON.parse(text) as Json;
      const request = { model, isStream, path: incoming.url ?? '', headers: incoming.headers, body };
      requests.push(request);
      const isSigned = (signature: string): boolean => signatures.has(signature);
      const fault = stranger(incoming.headers) ?? findFault(body, { model, isVertex: vertex !== undefined, isSigned });
      if (fault !== undefined) return refuse(response, fault);
      if (isStream && url.searchParams.get('alt') !== 'sse') return refuse(response, invalidArgument('alt is not sse'));
      const script = typeof next === 'function' ? next(request) : next;
      if ('error' in script) return refuse(response, script.error, script.headers);
      const answer = model.startsWith('gemini-3') ? sign(script, signatures) : script;
      return isStream ? stream(response, answer, model) : respond(response, answer, model);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (script) => void (next = script),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const JSON_TYPE = 'application/json; charset=UTF-8';

function refuse(response: ServerResponse, error: GoogleError, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(error.code, { 'content-type': JSON_TYPE, ...headers });
  response.end(JSON.stringify({ error }, null, 2));
}

/** Signs the first function call, or else the last text: that is where Gemini 3 puts its signature. */
function sign(answer: GeminiAnswer, signatures: Set<string>): GeminiAnswer {
  const { parts = [] } = answer;
  const called = parts.findIndex((part) => part['functionCall'] !== undefined);
  const place = called === -1 ? parts.length - 1 : called;
  const thoughtSignature = randomBytes(24).toString('base64');
  signatures.add(thoughtSignature);
  return { ...answer, parts: parts.map((part, index) => (index === place ? { ...part, thoughtSignature } : part)) };
}

interface Emitted {
  readonly parts?: readonly Part[];
  readonly finishReason?: string | null | undefined;
  readonly usage?: UsageMetadata | undefined;
  readonly blockReason?: string | undefined;
  readonly continuationToken?: string | undefined;
}

function messageOf({ parts, finishReason, usage, blockReason, continuationToken }: Emitted, model: string): Json {
  const reason = typeof finishReason === 'string' ? { finishReason, continuationToken } : {};
  const content = parts === undefined || parts.length === 0 ? {} : { content: { parts, role: 'model' } };
  return {
    ...(blockReason === undefined
      ? { candidates: [{ ...content, ...reason, index: 0 }] }
      : { promptFeedback: { blockReason } }),
    ...(usage && { usageMetadata: usage }),
    modelVersion: model,
    responseId: 'mtEjab7kFJ-8xs0Pu',
  };
}

function respond(response: ServerResponse, answer: GeminiAnswer, model: string): void {
  response.writeHead(200, { 'content-type': JSON_TYPE });
  response.end(JSON.stringify(messageOf({ finishReason: 'STOP', ...answer }, model), null, 2));
}

/** A part a chunk, texts in two pieces. Each chunk has the usage so far: prompt and thoughts from the first one on. */
function stream(response: ServerResponse, answer: GeminiAnswer, model: string): void {
  const { parts = [], usage, breakBy, finishReason = 'STOP', ...end } = answer;
  const send = (message: unknown): void => void response.write(`data: ${JSON.stringify(message)}\r\n\r\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const begun = usage && usageSoFar(usage);
  const pieces = parts.flatMap(piecesOf);
  const isBroken = breakBy !== undefined;
  const last = isBroken ? [] : pieces.splice(-1);
  for (const piece of pieces) send(messageOf({ parts: [piece], usage: begun }, model));
  if (isBroken) return breakOff(response, breakBy, send);
  send(messageOf({ ...end, parts: last, finishReason, usage }, model));
  response.end();
}

function usageSoFar({ candidatesTokenCount = 0, candidatesTokensDetails: _, ...usage }: UsageMetadata): UsageMetadata {
  return { ...usage, totalTokenCount: (usage.totalTokenCount ?? 0) - candidatesTokenCount };
}

function piecesOf(part: Part): Part[] {
  const { text } = part;
  if (typeof text !== 'string' || text.length < 2) return [part];
  const { thoughtSignature, ...unsigned } = part;
  const half = Math.ceil(text.length / 2);
  const pieces: Part[] = [text.slice(0, half), text.slice(half)].map((piece) => ({ ...unsigned, text: piece }));
  // Gemini 3 signs a text by an empty part after it.
  return thoughtSignature === undefined ? pieces : [...pieces, { text: '', thoughtSignature }];
}

function breakOff(
  response: ServerResponse,
  breakBy: GoogleError | 'end' | 'reset',
  send: (message: unknown) => void,
): void {
  if (breakBy === 'end') response.end();
  else if (breakBy === 'reset') setImmediate(() => response.socket?.resetAndDestroy());
  else {
    send({ error: breakBy });
    response.end();
  }
}
