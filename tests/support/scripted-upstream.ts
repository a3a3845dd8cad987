// A provider whose every byte the test chooses. It shares nothing with the simulator, so that a mistake in one shows.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface RecordedRequest {
  readonly method: string;
  /** The path with the query, as it came. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** The body as JSON, or undefined if it is not JSON. */
  readonly body: unknown;
  /** True if the other side left before it had the whole answer. It is final once `closed` has resolved. */
  readonly aborted: boolean;
  /** Resolves when either side has ended the exchange. It does not reject. */
  readonly closed: Promise<void>;
}

export type UpstreamStep =
  /** Sends the bytes, the head before the first of them. An empty string sends only the head. */
  | { readonly write: string | Buffer }
  | { readonly waitMs: number }
  /** Waits until the promise settles, either way. */
  | { readonly waitFor: Promise<unknown> }
  /** Resets the connection. */
  | { readonly destroy: true }
  /** Sends nothing more until the other side leaves or the upstream is closed. */
  | { readonly hang: true };

/**
 * One answer: a body that is sent whole, or steps with a clean end after the last one. Without `status` it is
 * 200. Without `headers` there is only a content type, JSON for a body and events for steps. If given, `headers` are complete.
 */
export interface UpstreamScript {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer | readonly UpstreamStep[];
}

export type NextScript = UpstreamScript | ((request: RecordedRequest, index: number) => UpstreamScript);

export interface ScriptedUpstream {
  readonly baseUrl: string;
  /** The requests in the order in which their bodies ended, broken off or not. */
  readonly requests: readonly RecordedRequest[];
  /** Sets the script for requests from now on. Before the first script they get a 500. */
  readonly script: (next: NextScript) => void;
  /** Resolves to the request with that index once it has arrived. */
  readonly arrival: (index: number) => Promise<RecordedRequest>;
  /** Breaks off running requests. Rejects with the error of a script function, if there was one. */
  readonly close: () => Promise<void>;
}

/** Listens on a free port of 127.0.0.1 until `close`. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = [];
  const faults: unknown[] = [];
  const arrivals = new EventTarget();
  let next: NextScript = { status: 500, body: '{"error":{"message":"The test has set no script."}}' };

  const server = createServer((incoming, response) => {
    const exchange = followExchange(response);
    readBody(incoming)
      .then(async (rawBody) => {
        const request = recordRequest(incoming, rawBody, exchange);
        const index = requests.push(request) - 1;
        arrivals.dispatchEvent(new Event('arrival'));
        await play(typeof next === 'function' ? next(request, index) : next, exchange);
      })
      .catch(async (fault: unknown) => {
        if (isOfConnection(fault)) await exchange.closed; // A write may learn of its end before the exchange does.
        if (exchange.gone.signal.aborted) return;
        faults.push(fault);
        response.destroy();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script: (script) => void (next = script),
    arrival: async (index) => {
      for (;;) {
        const request = requests[index];
        if (request !== undefined) return request;
        await once(arrivals, 'arrival');
      }
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      if (faults.length > 0) throw faults[0];
    },
  };
}

function isOfConnection(fault: unknown): boolean {
  return fault instanceof Error && 'syscall' in fault;
}

interface ServedExchange {
  readonly response: ServerResponse;
  /** Aborts when the exchange is over, which ends every wait. */
  readonly gone: AbortController;
  readonly closed: Promise<void>;
  /** True if the upstream itself broke the exchange off, so that the other side is not to blame. */
  isDestroyed: boolean;
  isAborted: boolean;
}

function followExchange(response: ServerResponse): ServedExchange {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const exchange = { response, gone: new AbortController(), closed, isDestroyed: false, isAborted: false };
  response.on('error', () => {}); // A write to a side that has left. `close` reports it.
  response.on('close', () => {
    exchange.isAborted = !response.writableFinished && !exchange.isDestroyed;
    exchange.gone.abort();
    resolve();
  });
  return exchange;
}

/** The body as far as it arrived. It is incomplete if the other side left meanwhile. */
async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // The record says `aborted`.
  }
  return Buffer.concat(chunks);
}

function recordRequest(incoming: IncomingMessage, rawBody: Buffer, exchange: ServedExchange): RecordedRequest {
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawBody,
    body: parseOrUndefined(rawBody.toString('utf8')),
    closed: exchange.closed,
    get aborted() {
      return exchange.isAborted;
    },
  };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function play({ status = 200, headers, body }: UpstreamScript, exchange: ServedExchange): Promise<void> {
  const { response } = exchange;
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  response.statusCode = status;
  const type = isWhole ? 'application/json' : 'text/event-stream';
  response.setHeaders(new Map(Object.entries(headers ?? { 'content-type': type })));
  if (isWhole) {
    response.end(body);
    return;
  }
  for (const step of body) {
    await playStep(step, exchange);
    if (exchange.gone.signal.aborted) return;
  }
  response.end();
}

async function playStep(step: UpstreamStep, exchange: ServedExchange): Promise<void> {
  const { response, gone } = exchange;
  if ('write' in step) await writeOut(response, step.write);
  else if ('waitMs' in step) await pause(step.waitMs, undefined, { signal: gone.signal });
  else if ('waitFor' in step) await Promise.race([Promise.allSettled([step.waitFor]), exchange.closed]);
  else if ('hang' in step) await exchange.closed;
  else {
    exchange.isDestroyed = true;
    response.socket?.resetAndDestroy();
    await exchange.closed;
  }
}

/** Resolves when the bytes have left this process, so that a reset after them cannot overtake them. */
async function writeOut(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  response.flushHeaders();
  if (bytes.length === 0) return;
  await new Promise<void>((resolve, reject) => {
    response.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

const HEAD = { id: 'chatcmpl-scripted', created: 1_700_000_000 };

/** One event of a stream: `payload` as JSON, a string as it is (`[DONE]`). */
export function frame(payload: unknown): string {
  return `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
}

export interface CompletionFacts {
  readonly model: string;
  readonly content: string | null;
  /**
   * The usage is sent as given, true or not. If it is absent, so is the field. `JSON.rawJSON('1e999')` writes numbers
   * that JSON cannot.
   */
  readonly usage?: unknown;
  readonly toolCalls?: readonly unknown[];
  /** The reason is `stop` unless given. Null is sent as null. */
  readonly finishReason?: string | null;
}

/** The body of an unstreamed completion with one choice. */
export function completionBody(facts: CompletionFacts): string {
  const { model, content, usage, toolCalls, finishReason = 'stop' } = facts;
  const message = { role: 'assistant', content, refusal: null, tool_calls: toolCalls };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return JSON.stringify({ ...HEAD, object: 'chat.completion', model, choices, usage });
}

export interface StreamFacts {
  readonly model: string;
  /** The pieces are sent as one chunk each, after a first one with the role. */
  readonly pieces: readonly string[];
  /** The usage is sent as given on the usage chunk. */
  readonly usage?: unknown;
  /** A chunk with no choices before `[DONE]`, and a null usage on all others. */
  readonly includeUsageChunk: boolean;
  /** The reason is `stop` unless given. Null leaves out its chunk. */
  readonly finishReason?: string | null;
  /** Whether the stream ends with `[DONE]`. True unless given. */
  readonly isDoneSent?: boolean;
}

/** The steps of a streamed completion, one write per chunk, so that a test can put waits and breaks in between. */
export function streamSteps(facts: StreamFacts): readonly { readonly write: string }[] {
  const { model, pieces, usage, includeUsageChunk, finishReason = 'stop', isDoneSent = true } = facts;
  const head = { ...HEAD, object: 'chat.completion.chunk', model };
  const nullUsage = includeUsageChunk ? { usage: null } : {};
  const chunkOf = (delta: object, reason: string | null): object => {
    return { ...head, choices: [{ index: 0, delta, finish_reason: reason }], ...nullUsage };
  };
  const payloads: unknown[] = [chunkOf({ role: 'assistant', content: '' }, null)];
  for (const content of pieces) payloads.push(chunkOf({ content }, null));
  if (finishReason !== null) payloads.push(chunkOf({}, finishReason));
  if (includeUsageChunk) payloads.push({ ...head, choices: [], usage });
  if (isDoneSent) payloads.push('[DONE]');
  return payloads.map((payload) => ({ write: frame(payload) }));
}

/** The usage of answers whose usage does not matter. */
export const USAGE = { prompt_tokens: 10, completion_tokens: 5 };

/** A plain answer with this text and usage. */
export function saying(content: string, usage: unknown = USAGE): UpstreamScript {
  return { body: completionBody({ model: 'large-upstream', content, usage }) };
}
