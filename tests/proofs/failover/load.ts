// The callers: plain calls on a fixed schedule that waits for nobody, and streams of which so many are open at each gateway. None of
// them repeats a call. Run as a process, so that nothing of the run delays them.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { obey, startArgument } from '../../../benchmarks/support/worker.ts';

export interface LoadOptions {
  /** The addresses of the gateways, which take calls in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly users: number;
  /**
   * Users who have money for few calls: `poor-1-0` and so on after the first `go`, others after each. Every second stream and every
   * fourth plain call is of one of them, so that each has calls at once when the money ends.
   */
  readonly poor: number;
  /** The plain calls a second, in all. */
  readonly perSecond: number;
  /** The streams at each gateway. */
  readonly streams: number;
}

/** `stop` makes no more calls, waits for those that run, and gives all since `go`. */
export type LoadOrder = 'go' | 'stop';

export interface LoadReport {
  readonly calls: readonly Call[];
}

/** A call as its caller saw it. */
export interface Call {
  /** The tag is also the correlation id of the call. */
  readonly tag: string;
  readonly user: string;
  /** Its place in `urls`. */
  readonly gateway: number;
  /** Milliseconds of the clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The status of the answer. It is 0 if none came. */
  readonly status: number;
  /**
   * With `answered`, all of the answer came. With `refused`, an error came, perhaps within a stream. With `broken`, the
   * connection broke.
   */
  readonly end: 'answered' | 'refused' | 'broken';
  /** What the caller was told that the call cost. Only an answered call has it. */
  readonly toldMicros: number | undefined;
}

const POOR_EVERY = { stream: 2, plain: 4 };
const STEP_MS = 10;
/** A caller that was refused does not begin the next stream at once. */
const AFTER_REFUSAL_MS = 300;
const ANSWER_MS_MAX = 90_000;
const TOLD = /^: charge-micros=(\d+) /m;

const options = startArgument() as LoadOptions;
const underWay = new Set<Promise<unknown>>();
let stopped = new AbortController();
let calls: Call[] = [];
let made = 0;
let gone = 0;

obey(async (order): Promise<LoadReport> => {
  if (order === 'go') {
    stopped = new AbortController();
    calls = [];
    gone += 1;
    follow(keepCalling(stopped.signal));
    for (const gateway of options.urls.keys())
      for (let stream = 0; stream < options.streams; stream += 1) follow(keepStreaming(gateway, stopped.signal));
    return { calls: [] };
  }
  stopped.abort();
  while (underWay.size > 0) await Promise.race(underWay);
  return { calls };
});

function follow(work: Promise<unknown>): void {
  underWay.add(work);
  void work.finally(() => underWay.delete(work));
}

async function keepCalling(over: AbortSignal): Promise<void> {
  const from = performance.now();
  for (let begun = 0; !over.aborted; ) {
    const due = ((performance.now() - from) / 1_000) * options.perSecond;
    for (; begun < due; begun += 1) follow(call(begun % options.urls.length, false));
    await pause(STEP_MS);
  }
}

async function keepStreaming(gateway: number, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const { end } = await call(gateway, true);
    if (end !== 'answered') await pause(AFTER_REFUSAL_MS);
  }
}

async function call(gateway: number, isStream: boolean): Promise<Call> {
  made += 1;
  const number = made;
  const tag = `call-${isStream ? 's' : 'p'}-${number}`;
  const user = userOf(number, isStream);
  const startedAt = Date.now();
  const seen = await send({ tag, user, gateway, isStream });
  const ended = { tag, user, gateway, startedAt, endedAt: Date.now(), ...seen };
  calls.push(ended);
  return ended;
}

function userOf(number: number, isStream: boolean): string {
  const every = isStream ? POOR_EVERY.stream : POOR_EVERY.plain;
  if (options.poor === 0 || number % every !== 0) return `user-${number % options.users}`;
  return `poor-${gone}-${(number / every) % options.poor}`;
}

interface Sending {
  readonly tag: string;
  readonly user: string;
  readonly gateway: number;
  readonly isStream: boolean;
}

/** Sends a call and never rejects. */
function send({ tag, user, gateway, isStream }: Sending): Promise<Pick<Call, 'status' | 'end' | 'toldMicros'>> {
  const body = JSON.stringify({
    model: 'roll',
    messages: [{ role: 'user', content: tag }],
    max_completion_tokens: 50,
    ...(isStream && { stream: true }),
  });
  return new Promise((resolve) => {
    let text = '';
    let answer: IncomingMessage | undefined;
    const sent: ClientRequest = request(`${options.urls[gateway]}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: {
        authorization: `Bearer ${options.key}`,
        'x-service-user': user,
        'x-correlation-id': tag,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    sent.on('response', (response) => {
      answer = response;
      response.setEncoding('utf8');
      response.on('data', (part: string) => void (text += part));
      response.on('error', () => {});
    });
    sent.on('error', () => {});
    sent.on('close', () => resolve(read(answer, text, isStream)));
    sent.end(body);
  });
}

function read(
  answer: IncomingMessage | undefined,
  text: string,
  isStream: boolean,
): Pick<Call, 'status' | 'end' | 'toldMicros'> {
  const status = answer?.statusCode ?? 0;
  if (answer === undefined || !answer.complete) return { status, end: 'broken', toldMicros: undefined };
  const isWhole = status === 200 && text.includes(isStream ? 'data: [DONE]' : 'Whole.');
  if (!isWhole) return { status, end: 'refused', toldMicros: undefined };
  const told = isStream ? TOLD.exec(text)?.[1] : answer.headers['x-service-charge-micros'];
  return { status, end: 'answered', toldMicros: Number(told) };
}
