import type { fetch as undiciFetch } from 'undici';
import {
  type CredentialAnswer,
  type CredentialRequest,
  requestCredentials,
} from '#providers/transport/credential-request.ts';
import { type Dispatchers, loadDispatchers } from '#providers/transport/dispatchers.ts';
import { disguisedErrorIn } from '#providers/errors/disguised.ts';
import { ANSWER_BYTES_MAX, UpstreamError } from '#providers/port/provider.ts';

/** The `fetch` that a vendor's library is given. */
export type VendorFetch = typeof globalThis.fetch;

/** How a streamed body is cut into events: at blank lines, or by the lengths that binary frames begin with. */
export type Framing = 'events' | 'frames';

/** What holds for one call. */
interface CallFetchOptions {
  /** A plain body may have this many bytes; undefined for a stream. */
  readonly bytesMax: number | undefined;
  readonly framing: Framing;
  /** Whether an event may be as long as a whole answer, because its reader tells those with pictures from others. */
  readonly hasPictures?: boolean | undefined;
  /** Is called with the body before it is sent. What it throws is thrown by the call, and nothing is sent. */
  readonly checkBody: (body: string) => void;
}

/**
 * Makes HTTP requests for the libraries of vendors. It is loaded with the first call: undici takes 10 MB, and most
 * processes need none of it.
 */
export interface VendorHttp {
  /** The `fetch` of one call. It follows no redirects, sends none of the caller's headers and repeats nothing. */
  readonly fetchFor: (options: CallFetchOptions) => VendorFetch;
  /** One request for a token or for keys, by the same ways out. Rejects with an `UpstreamError` if there is no answer. */
  readonly requestCredentials: (request: CredentialRequest) => Promise<CredentialAnswer>;
  readonly close: () => void;
}

/** One event of a stream. No honest one comes near it, and our memory must end somewhere. */
const EVENT_BYTES_MAX = 1024 * 1024;

/** Errors are read to tell them apart, and are short. */
const ERROR_BYTES_MAX = 64 * 1024;
/** The header in which AWS names an error. */
const ERROR_TYPE = 'x-amzn-errortype';
const [SPACE, BRACE, BRACKET] = [0x20, 0x7b, 0x5b];

interface Undici {
  readonly fetch: typeof undiciFetch;
  readonly dispatchers: Dispatchers;
}

/** Uses the proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). Timeouts are its caller's, by the signal. */
export function createVendorHttp(environment: Readonly<Record<string, string | undefined>> = {}): VendorHttp {
  let loading: Promise<Undici> | undefined;

  function loaded(): Promise<Undici> {
    loading ??= load(environment);
    return loading;
  }

  return {
    requestCredentials: async (request) => {
      const { dispatchers } = await loaded();
      return requestCredentials(request, dispatchers.leadingTo(new URL(request.url)));
    },
    fetchFor: (options) => async (input, init) => {
      const { fetch, dispatchers } = await loaded();
      const { body, signal } = init ?? {};
      if (typeof body !== 'string') throw new Error('A vendor library sent a body that is not text.');
      if (signal?.aborted === true) throw new UpstreamError('unsent', 'The call was given up before it was sent.');
      options.checkBody(body);
      const headers = new Headers(init?.headers);
      headers.set('accept-encoding', 'identity');
      headers.set('user-agent', 'purser/1');
      const url = urlOf(input);
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: Object.fromEntries(headers),
        redirect: 'manual',
        dispatcher: dispatchers.leadingTo(new URL(url)),
        signal: signal ?? null,
      }).catch((fault: unknown) => {
        throw failureOf(fault, signal);
      });
      const opened = await openedOf(response, options, signal);
      return bounded(opened, options, signal);
    },
    close: () => {
      void loading?.then(({ dispatchers }) => dispatchers.close()).catch(() => {});
    },
  };
}

async function load(environment: Readonly<Record<string, string | undefined>>): Promise<Undici> {
  const { fetch } = await import('undici');
  return { fetch, dispatchers: await loadDispatchers(environment) };
}

function urlOf(input: Parameters<VendorFetch>[0]): string {
  return input instanceof Request ? input.url : String(input);
}

/** A fault of the network. Our own abort stays what it is: its owner knows why. */
function failureOf(fault: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted === true) return fault;
  const cause = fault instanceof Error ? (fault.cause ?? fault) : fault;
  return new UpstreamError('outage', 'The connection to the provider failed.', { cause });
}

/** A response, and what was read of its body to find out what it is. */
interface Opened {
  readonly response: Response;
  readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly read: readonly Uint8Array[];
}

/**
 * Looks at the beginning of a good response. JSON in the place of a stream, and a short plain answer, may be an error: then the
 * response gets the status of one.
 */
async function openedOf(
  response: Response,
  { bytesMax }: CallFetchOptions,
  signal: AbortSignal | null | undefined,
): Promise<Opened> {
  const { ok, headers, body } = response;
  const reader = body?.getReader();
  if (!ok || reader === undefined) return { response, reader, read: [] };
  const read: Uint8Array[] = [];
  let bytes = 0;
  let isOver = false;
  const isPlain = bytesMax !== undefined;
  const mayBeError = (): boolean => bytes <= ERROR_BYTES_MAX && (isPlain || mayBeJson(read));
  while (!isOver && mayBeError()) {
    const { done, value } = await reader.read().catch((fault: unknown) => {
      throw failureOf(fault, signal);
    });
    isOver = done;
    if (value !== undefined) read.push(value);
    bytes += value?.length ?? 0;
  }
  const error = isOver && bytes <= ERROR_BYTES_MAX ? disguisedErrorIn(Buffer.concat(read).toString('utf8')) : undefined;
  if (error === undefined) return { response, reader, read };
  const told = new Headers(headers);
  if (error.type !== undefined && !told.has(ERROR_TYPE)) told.set(ERROR_TYPE, error.type);
  return { response: new Response(null, { status: error.status, headers: told }), reader, read };
}

/** Whether a body that began like this may be JSON: neither an event nor a binary frame begins with a bracket. */
function mayBeJson(read: readonly Uint8Array[]): boolean {
  for (const bytes of read) {
    const first = bytes.find((byte) => byte > SPACE || byte === 0);
    if (first !== undefined) return first === BRACE || first === BRACKET;
  }
  return true;
}

function bounded(
  { response, reader, read }: Opened,
  options: CallFetchOptions,
  signal: AbortSignal | null | undefined,
): Response {
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    void reader?.cancel().catch(() => {});
    throw new UpstreamError('refused', `The provider answered with a redirect (${status}).`, { status });
  }
  if (reader === undefined) return response;
  const isStream = response.ok && options.bytesMax === undefined;
  const failure = (): UpstreamError => {
    return isStream
      ? new UpstreamError('too-large', 'The provider sent too large an event.')
      : new UpstreamError('malformed', 'The provider sent more than an answer can be.');
  };
  const gauge = { isWithin: gaugeFor(response, options), failure };
  return new Response(gauged({ reader, read }, gauge, signal), { status, headers });
}

interface Gauge {
  readonly isWithin: (bytes: Uint8Array) => boolean;
  readonly failure: () => UpstreamError;
}

/** The error of a stream is no stream. */
function gaugeFor(
  { ok }: Response,
  { bytesMax, framing, hasPictures }: CallFetchOptions,
): (bytes: Uint8Array) => boolean {
  if (!ok) return createByteGauge(ERROR_BYTES_MAX);
  if (bytesMax !== undefined) return createByteGauge(bytesMax);
  return framing === 'frames' ? createFrameGauge() : createLineGauge(hasPictures ? ANSWER_BYTES_MAX : EVENT_BYTES_MAX);
}

/** The same bytes. Nothing is read before it is wanted (back-pressure), and the body ends with an error past the gauge's limit. */
function gauged(
  { reader, read }: { readonly reader: ReadableStreamDefaultReader<Uint8Array>; readonly read: readonly Uint8Array[] },
  { isWithin, failure }: Gauge,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const waiting = [...read];
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const next = waiting.shift();
          const { done, value } = next === undefined ? await reader.read() : { done: false, value: next };
          if (done || value === undefined) return controller.close();
          if (isWithin(value)) return controller.enqueue(value);
          controller.error(failure());
          await reader.cancel();
        } catch (fault) {
          controller.error(failureOf(fault, signal));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function createByteGauge(bytesMax: number): (bytes: Uint8Array) => boolean {
  let seen = 0;
  return ({ length }) => (seen += length) <= bytesMax;
}

const LINE_FEED = 10;
/** A line end may have a carriage return before it. */
const BLANK_LINE_BYTES_MAX = 2;

/**
 * Makes a gauge that returns false once an event is too long. A blank line ends an event: two line feeds with at most a
 * carriage return between them.
 */
function createLineGauge(bytesMax: number): (bytes: Uint8Array) => boolean {
  /** Bytes since the last event ended, and since the last line did. */
  let ofEvent = 0;
  let ofLine = Infinity;
  return (bytes) => {
    let at = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, at)) {
      const length = end + 1 - at;
      ofEvent = ofLine + length <= BLANK_LINE_BYTES_MAX ? 0 : ofEvent + length;
      ofLine = 0;
      at = end + 1;
      if (ofEvent > bytesMax) return false;
    }
    ofEvent += bytes.length - at;
    ofLine += bytes.length - at;
    return ofEvent <= bytesMax;
  };
}

const LENGTH_BYTES = 4;

/** Makes a gauge that returns false once a frame says that it is too long: a library may collect it first. */
function createFrameGauge(): (bytes: Uint8Array) => boolean {
  /** Bytes of the frame that are still to come, and the length of the next frame as far as it was read. */
  let left = 0;
  let lengthRead = 0;
  let length = 0;
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (left > 0) {
        const step = Math.min(left, bytes.length - at);
        left -= step;
        at += step;
        continue;
      }
      length = length * 256 + (bytes[at] as number);
      at += 1;
      lengthRead += 1;
      if (lengthRead < LENGTH_BYTES) continue;
      if (length > EVENT_BYTES_MAX || length < LENGTH_BYTES) return false;
      left = length - LENGTH_BYTES;
      length = 0;
      lengthRead = 0;
    }
    return true;
  };
}
