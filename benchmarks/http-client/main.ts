// What packages/upstream-http costs beside undici: `npm exec node benchmarks/http-client/main.ts [--rounds 7 --calls 10000]`.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { medianOf } from '../measure.ts';
import { makeCertificate } from '../support/certificate.ts';
import { pinned, type Running, start } from '../support/processes.ts';
import { shortNumber, tableOf } from '../support/table.ts';
import { findTools, foldersOf, placement } from '../support/tools.ts';
import { startWorker, type Worker } from '../support/worker.ts';
import { PLAIN, STREAM, STREAM_CHUNKS, STREAM_HEAD } from '../upstream/answers.ts';
import type { CallerArgument, CallOrder, CallReport } from './caller.ts';
import { type ClientName, CLIENTS } from './clients.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, calls: { type: 'string', default: '5000' } },
});
const rounds = Number(values.rounds);
const calls = Number(values.calls);
if (!(Number.isInteger(rounds) && rounds > 0 && Number.isInteger(calls) && calls > 0)) {
  throw new Error('`--rounds` and `--calls` are whole numbers above 0.');
}
const AT_ONCE = 64;

interface Scenario {
  readonly title: string;
  readonly isStream: boolean;
  readonly isTls: boolean;
}

const SCENARIOS: readonly Scenario[] = [false, true].flatMap((isTls) => [
  { title: isTls ? 'buffered, TLS' : 'buffered', isStream: false, isTls },
  { title: isTls ? `${STREAM_CHUNKS} chunks, TLS` : `${STREAM_CHUNKS} chunks`, isStream: true, isTls },
]);

const tools = findTools(foldersOf(process.env['PATH'] ?? ''));
const cores = placement();
const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-bench-'));
const certificate = makeCertificate(directory);
const upstreams: Running[] = [];
try {
  const clear = await startUpstream([]);
  const tls =
    certificate === undefined ? undefined : await startUpstream(['--key', certificate.key, '--cert', certificate.cert]);
  if (tls === undefined) console.log('TLS is left out, because `openssl` is missing: it makes the certificate.\n');
  const rows: (readonly string[])[] = [];
  for (const scenario of SCENARIOS) {
    const upstream = scenario.isTls ? tls : clear;
    if (upstream !== undefined) rows.push(rowOf(scenario, await measure(scenario, upstream.ready)));
  }
  console.log(`Processor time of the calling process for one call, in microseconds: medians of ${rounds} interleaved`);
  console.log(`rounds of ${calls} calls, ${AT_ONCE} at once. Ratios are medians of the ratios within the rounds.\n`);
  console.log(tableOf(['', ...CLIENTS, 'own / request', 'own / dispatch', 'above the floor'], rows));
} finally {
  for (const upstream of upstreams) await upstream.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function startUpstream(args: readonly string[]): Promise<Running> {
  const script = fileURLToPath(new URL('../upstream/main.ts', import.meta.url));
  const running = await start({
    tools,
    cores: cores.upstream,
    program: process.execPath,
    args: [script, ...args],
    isReady: /ready at (\S+) /,
  });
  upstreams.push(running);
  return running;
}

type Samples = Readonly<Record<ClientName, readonly number[]>>;

/** Each round measures every client in turn, so that a disturbance of the machine meets all of them. */
async function measure({ isStream }: Scenario, url: string): Promise<Samples> {
  const workers = new Map<ClientName, Worker<CallOrder, CallReport>>();
  const samples: Record<ClientName, number[]> = {
    floor: [],
    'upstream-http': [],
    'undici dispatch': [],
    'undici request': [],
  };
  try {
    for (const client of CLIENTS) workers.set(client, startCaller(client, url, isStream));
    for (let round = -1; round < rounds; round += 1) {
      for (const [client, worker] of workers) {
        const { microsPerCall } = await worker.tell({ calls, atOnce: AT_ONCE });
        if (round >= 0) samples[client].push(microsPerCall); // The first round compiles the code and opens connections.
      }
    }
  } finally {
    for (const worker of workers.values()) await worker.stop();
  }
  return samples;
}

function startCaller(client: ClientName, url: string, isStream: boolean): Worker<CallOrder, CallReport> {
  const response = isStream ? STREAM : PLAIN;
  const argument: CallerArgument = {
    client,
    url: `${url}/v1/chat/completions`,
    isStream,
    responseBytes: response.length,
    expected: client === 'floor' ? response.length : isStream ? streamedCharacters() : bodyOf(PLAIN).length,
  };
  const words = pinned(tools, cores.gateway, [process.execPath]);
  const command =
    certificate === undefined ? words : (['env', `NODE_EXTRA_CA_CERTS=${certificate.cert}`, ...words] as const);
  return startWorker({ command, script: new URL('caller.ts', import.meta.url), argument });
}

function bodyOf(response: Buffer): string {
  const text = response.toString('utf8');
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

/** The characters of the stream's body without the size lines of its chunks. */
function streamedCharacters(): number {
  return STREAM.subarray(STREAM_HEAD.length)
    .toString('utf8')
    .replaceAll(/[0-9a-f]+\r\n([^\r]*)\r\n/g, '$1').length;
}

function rowOf({ title }: Scenario, samples: Samples): readonly string[] {
  const floor = samples.floor;
  const own = samples['upstream-http'];
  const ratio = (over: readonly number[]): string =>
    medianOf(own.map((micros, round) => micros / (over[round] ?? Number.NaN))).toFixed(2);
  const request = samples['undici request'];
  const above = own.map(
    (micros, round) => (micros - (floor[round] ?? 0)) / ((request[round] ?? 0) - (floor[round] ?? 0)),
  );
  return [
    title,
    ...CLIENTS.map((client) => shortNumber(medianOf(samples[client]))),
    ratio(request),
    ratio(samples['undici dispatch']),
    medianOf(above).toFixed(2),
  ];
}
