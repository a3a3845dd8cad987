import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import type { StreamsOrder, StreamsReport } from '../streams/main.ts';
import { watchBooks } from '../support/books.ts';
import { bodyOf, CHAT_PATH } from '../support/call.ts';
import { PACED_MODEL } from '../support/catalogue.ts';
import { cpuMicrosOf, memoryOf } from '../support/cpu.ts';
import type { Ground } from '../support/ground.ts';
import { pinned, type Running } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { CHUNK_PAUSE_MS } from '../upstream/answers.ts';
import { LIVE, NGINX } from '../support/target.ts';
import { startWorker, type Worker } from '../support/worker.ts';

const STREAMS = 2_000;
const CHUNKS_A_SECOND = (STREAMS * 1_000) / CHUNK_PAUSE_MS;
/**
 * A target that sends less than this share of its chunks is late with so many that they come in lumps, which are
 * cheaper.
 */
const SHARE_MIN = 0.9;
/**
 * As many whole streams are read before the first measurement, so that a process has grown to the size that it has when
 * it works.
 */
const WARM_UP_CALLS = 3_000;
const WARM_UP_CONNECTIONS = 64;
/** What the last openings have left behind is over by then. */
const CALM_MS = 500;

interface StreamTarget {
  readonly name: string;
  readonly url: string;
  readonly upstreamUrl: string;
  readonly pid: number;
  /** Requests for streams of 20 chunks a second, and for those of the warm-up, which come in one go. */
  readonly paced: readonly string[];
  readonly quick: readonly string[];
  /** The database that charges for it. */
  readonly databasePid?: number;
}

interface Sample {
  readonly chunksPerSecond: number;
  readonly cpuMicros: number;
  readonly databaseMicros: number;
  readonly memory: number;
  readonly p50: number;
  readonly p99: number;
}

type Reader = Worker<StreamsOrder, StreamsReport>;

/**
 * Keeps 2,000 streams open at once, each with 20 chunks a second, and measures what a chunk and what a stream costs.
 */
export const openStreams: Measure = {
  name: 'open-streams',
  title: '2,000 open streams, 20 chunks a second each',
  run: async (bench) => {
    const ground = await bench.ground();
    await using started = new AsyncDisposableStack();
    const service = await startOwnService(bench, ground);
    started.defer(service.stop);
    const reader: Reader = startWorker({
      command: pinned(bench.tools, ground.cores.load, [process.execPath]),
      script: new URL('../streams/main.ts', import.meta.url),
      argument: {},
    });
    started.defer(reader.stop);
    const books = await watchBooks(ground);
    const { rows, charged } = await measureTargets(bench, reader, targetsOf(ground, service));
    const fault = await books.judge(bench, { answered: charged, cutOff: 0 });
    return rows.map((row) => (row.target === LIVE && fault !== undefined ? { ...row, isVoid: fault } : row));
  },
};

/** One that has not grown by what other measures did. */
function startOwnService({ tools, directory }: Bench, ground: Ground): Promise<Running> {
  return startService({
    tools,
    cores: ground.cores.gateway,
    directory: path.join(directory, 'service-of-streams'),
    databaseUrl: ground.database.url,
    upstreamUrl: ground.upstream.ready,
  });
}

function targetsOf(ground: Ground, service: Running): readonly StreamTarget[] {
  const { nginx, database } = ground;
  const upstreamUrl = ground.upstream.ready;
  const quickBody = bodyOf({ stream: true });
  const pacedBody = bodyOf({ stream: true, model: PACED_MODEL });
  const quick = requestsOf(ground, CHAT_PATH, quickBody, WARM_UP_CONNECTIONS);
  const targets: StreamTarget[] = [];
  if (nginx !== undefined) {
    const paced = requestsOf(ground, `/paced${CHAT_PATH}`, pacedBody, STREAMS);
    targets.push({ name: NGINX, url: nginx.unbufferedUrl, upstreamUrl, pid: nginx.pid, paced, quick });
  }
  const own = { url: service.ready, upstreamUrl, pid: service.pid, databasePid: database.pid };
  targets.push({ name: LIVE, ...own, paced: requestsOf(ground, CHAT_PATH, pacedBody, STREAMS), quick });
  return targets;
}

/** Each by a user of its own. */
function requestsOf({ apps, users }: Ground, to: string, body: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const user = index % users;
    const head = [
      `POST ${to} HTTP/1.1`,
      'host: 127.0.0.1',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      `authorization: Bearer ${apps[user % apps.length]?.liveKey}`,
      `x-service-user: user-${user}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  });
}

/** In the result, `charged` is the number of streams that came to their end where that costs money. */
async function measureTargets(
  bench: Bench,
  reader: Reader,
  targets: readonly StreamTarget[],
): Promise<{ readonly rows: readonly Row[]; readonly charged: number }> {
  let charged = 0;
  const samples = new Map<StreamTarget, Sample[]>();
  const idleBytes = new Map<StreamTarget, number>();
  const faults = new Map<StreamTarget, string>();
  for (const target of targets) {
    const warmUp = await reader.tell({ act: 'call', url: target.url, requests: target.quick, calls: WARM_UP_CALLS });
    if (target.name === LIVE) charged += warmUp.ended;
    await sleep(CALM_MS);
    idleBytes.set(target, memoryOf(target.pid));
    samples.set(target, []);
  }
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const target of targets) {
      const { sample, ended, fault } = await measureOnce(bench, reader, target, idleBytes.get(target) ?? Number.NaN);
      if (target.name === LIVE) charged += ended;
      samples.get(target)?.push(sample);
      const share = sample.chunksPerSecond / CHUNKS_A_SECOND;
      if (share < SHARE_MIN) {
        bench.note(
          `Round ${round}: through ${target.name} came ${Math.round(share * 100)} % of the chunks in their second: ` +
            'the machine was too busy, and late chunks come in lumps, which cost less.',
        );
      }
      if (fault !== undefined) faults.set(target, fault);
      bench.say(
        `round ${round}, ${target.name}: ${Math.round(sample.chunksPerSecond)} chunks/s, ${sample.cpuMicros.toFixed(1)} us a chunk, ` +
          `${sample.memory.toFixed(1)} KiB a stream, delay ${sample.p50.toFixed(2)} and ${sample.p99.toFixed(1)} ms` +
          (fault === undefined ? '' : `; VOID: ${fault}`),
      );
    }
  }
  return { rows: targets.map((target) => rowOf(target, samples.get(target) ?? [], faults.get(target))), charged };
}

async function measureOnce(
  bench: Bench,
  reader: Reader,
  target: StreamTarget,
  idleBytes: number,
): Promise<{ readonly sample: Sample; readonly ended: number; readonly fault: string | undefined }> {
  const opened = await reader.tell({ act: 'open', url: target.url, requests: target.paced });
  await sleep(CALM_MS);
  const read = () => ({
    service: cpuMicrosOf(target.pid),
    database: target.databasePid === undefined ? 0 : cpuMicrosOf(target.databasePid),
  });
  const before = read();
  const counted = await reader.tell({ act: 'count', seconds: bench.seconds });
  const after = read();
  const bytes = memoryOf(target.pid) - idleBytes;
  const { ended, cut } = await reader.tell({ act: 'end', upstreamUrl: target.upstreamUrl });
  const { chunks } = counted;
  let fault: string | undefined;
  if (opened.begun < STREAMS || ended < STREAMS || cut > 0) fault = `of ${STREAMS} streams ${ended} came to their end`;
  else if (counted.ended > 0) fault = `${counted.ended} streams were over before the end of the measurement`;
  return {
    sample: {
      chunksPerSecond: chunks / bench.seconds,
      cpuMicros: (after.service - before.service) / chunks,
      databaseMicros: (after.database - before.database) / chunks,
      memory: bytes / 1_024 / STREAMS,
      p50: counted.p50 / 1_000,
      p99: counted.p99 / 1_000,
    },
    ended,
    fault,
  };
}

function rowOf(target: StreamTarget, samples: readonly Sample[], fault: string | undefined): Row {
  const column = (unit: string, valueOf: (sample: Sample) => number) => figure(unit, samples.map(valueOf));
  return {
    target: target.name,
    figures: {
      'chunks/s': column('chunks/s', ({ chunksPerSecond }) => chunksPerSecond),
      service: column('us/chunk', ({ cpuMicros }) => cpuMicros),
      ...(target.databasePid === undefined
        ? {}
        : { database: column('us/chunk', ({ databaseMicros }) => databaseMicros) }),
      memory: column('KiB/stream', ({ memory }) => memory),
      'delay p50': column('ms', ({ p50 }) => p50),
      'delay p99': column('ms', ({ p99 }) => p99),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}
