// The callers of a roll: plain calls on a fixed schedule that waits for nobody, and streams of which so many are always open.
// None of them repeats a call. Run as a process.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { obey, startArgument } from '../../../benchmarks/support/worker.ts';

export interface LoadOptions {
  readonly url: string;
  readonly caFile: string;
  readonly key: string;
  readonly users: number;
  readonly perSecond: number;
  readonly streams: number;
  /** Where the tags of all answered calls are written at the end. */
  readonly answeredFile: string;
}

/** `stop` makes no more calls and waits for those that run. */
export type LoadOrder = { readonly act: 'figures' } | { readonly act: 'stop' };

export interface LoadFigures {
  readonly calls: number;
  readonly answered: number;
  readonly streamsOpen: number;
  /** Calls without a whole answer: their tag and what came instead. */
  readonly lost: readonly string[];
  /** The median time of plain calls, in milliseconds from the moment when one was due. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  readonly seconds: number;
}

const STEP_MS = 10;
const FIRST_STREAMS_MS = 8_000;
const SOCKETS_MAX = 300;
const LOST_TOLD = 40;

const options = startArgument() as LoadOptions;
const ca = readFileSync(options.caFile);
const agents = {
  plain: new https.Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, scheduling: 'lifo', ca }),
  streams: new https.Agent({ keepAlive: true, ca }),
};
const stopped = new AbortController();
const startedAt = performance.now();
const tookMs: number[] = [];
const answered: string[] = [];
const lost: string[] = [];
const underWay = new Set<Promise<unknown>>();
let calls = 0;
let streamsOpen = 0;

for (let index = 0; index < options.streams; index += 1)
  follow(keepStreaming((FIRST_STREAMS_MS * index) / options.streams));
follow(keepCalling());

obey(async (told): Promise<LoadFigures> => {
  const { act } = told as LoadOrder;
  if (act === 'stop') {
    stopped.abort();
    while (underWay.size > 0) await Promise.race(underWay);
    writeFileSync(options.answeredFile, answered.join('\n'));
  }
  const sorted = Float64Array.from(tookMs).toSorted();
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return {
    calls,
    answered: answered.length,
    streamsOpen,
    lost: lost.slice(0, LOST_TOLD),
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
    seconds: (performance.now() - startedAt) / 1_000,
  };
});

function follow(work: Promise<unknown>): void {
  underWay.add(work);
  void work.finally(() => underWay.delete(work));
}

async function keepCalling(): Promise<void> {
  for (let made = 0; !stopped.signal.aborted; ) {
    const due = ((performance.now() - startedAt) / 1_000) * options.perSecond;
    for (; made < due; made += 1) {
      const dueAt = startedAt + (made / options.perSecond) * 1_000;
      follow(call(`call-p-${made}`, made, false).then(() => tookMs.push(performance.now() - dueAt)));
    }
    await pause(STEP_MS);
  }
}

let streams = 0;

async function keepStreaming(waitMs: number): Promise<void> {
  await pause(waitMs);
  while (!stopped.signal.aborted) {
    streams += 1;
    streamsOpen += 1;
    await call(`call-s-${streams}`, streams, true);
    streamsOpen -= 1;
  }
}

/** Makes one call and notes whether all of its answer came. */
async function call(tag: string, number: number, isStream: boolean): Promise<void> {
  calls += 1;
  const fault = await answerTo(tag, number, isStream).catch((thrown: unknown) => String(thrown));
  if (fault === undefined) answered.push(tag);
  else lost.push(`${tag} at ${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${fault}`);
}

async function answerTo(tag: string, number: number, isStream: boolean): Promise<string | undefined> {
  const body = JSON.stringify({
    model: 'roll',
    messages: [{ role: 'user', content: tag }],
    max_completion_tokens: 50,
    ...(isStream && { stream: true }),
  });
  const sent = https.request(`${options.url}/v1/chat/completions`, {
    method: 'POST',
    agent: isStream ? agents.streams : agents.plain,
    headers: {
      authorization: `Bearer ${options.key}`,
      'x-service-user': `user-${number % options.users}`,
      'x-correlation-id': tag,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (part: string) => void (text += part));
  await once(response, 'end');
  const isWhole = text.includes(isStream ? 'data: [DONE]' : 'Whole.');
  return response.statusCode === 200 && isWhole ? undefined : `${response.statusCode} ${text.slice(0, 300)}`;
}
