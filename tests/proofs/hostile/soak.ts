// `npm run proofs -- soak streams`, `-- slow`, `-- bodies` and `-- pages`: see README.md in this folder.
import { loadavg } from 'node:os';
import { chat } from '../../support/client.ts';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';
import { scrape } from '../../support/metrics.ts';
import { STREAMS } from './soak-requests.ts';
import { setSoakStage, type SoakStage, USER } from './soak-stage.ts';

const OPEN_SECONDS = 60;
const KIB = 1024;
const WINDOWS = 2;
const CALLS_PER_WINDOW = 200;
/** This is the time for the readers' buffers to fill: only then do the readers stall. */
const FILL_MS = 10_000;
const WARM_UP_CALLS = 3_000;
const CALLERS = 50;
/** The default of production is one for each core. */
const PAGE_PROCESSES = 2;
/** Long enough for what an address or account may ask for at once to be over soon. */
const PAGE_WINDOW_MS = 10_000;

const what = process.argv[2];
const acts: Readonly<Record<string, (stage: SoakStage) => Promise<unknown>>> = { streams, slow, bodies, pages };
const act = acts[what ?? ''];
if (act === undefined) {
  console.error(
    Object.keys(acts)
      .map((name) => `npm run proofs -- soak ${name}`)
      .join('\n'),
  );
  process.exit(2);
}
console.log(`load before: ${loadavg().map(rounded).join(' ')}`);
await globalSetup();
try {
  await using stage = await setSoakStage(act === pages ? PAGE_PROCESSES : 1);
  const figures = await act(stage);
  const differences = await stage.checkBooks();
  console.log(JSON.stringify({ what, ...(figures as object), differencesInLedger: differences.length }, undefined, 2));
} finally {
  await globalTeardown();
}
console.log(`load after: ${loadavg().map(rounded).join(' ')}`);
process.exit(0);

/** A thousand streams open at once for a minute: whether any is cut, and how much of the service's memory each takes. */
async function streams(stage: SoakStage): Promise<unknown> {
  const { service, provider } = stage;
  // As many at once as a busy service has, so that the service has grown to its size before the first stream.
  await Promise.all(Array.from({ length: CALLERS }, () => call(stage, WARM_UP_CALLS / CALLERS)));
  const before = await memoryOf(stage);
  const client = await stage.startClient('soak-reader.ts');
  await client.tell('open');
  const open = await memoryOf(stage);
  const samples = [open];
  for (let second = 0; second < OPEN_SECONDS; second += 5) {
    await sleep(5_000);
    samples.push(await memoryOf(stage));
  }
  const during = await client.tell('look');
  await provider.tell('finish');
  const after = await client.tell('untilEnded');
  const highest = (of: 'resident' | 'heap') => Math.max(...samples.map((sample) => sample[of]));
  const lowest = (of: 'resident' | 'heap') => Math.min(...samples.slice(1).map((sample) => sample[of]));
  return {
    streams: STREAMS,
    seconds: OPEN_SECONDS,
    during,
    after,
    saidByService: service.said().split('\n').slice(1, 4),
    residentBefore: before.resident,
    residentAtPlateau: highest('resident'),
    kibPerStreamResident: kibPerStream(highest('resident'), before.resident),
    heapBefore: before.heap,
    heapAtPlateau: [lowest('heap'), highest('heap')],
    kibPerStreamHeapAfterCollection: kibPerStream(lowest('heap'), before.heap),
  };
}

function kibPerStream(bytes: number, before: number): number {
  return rounded((bytes - before) / STREAMS / KIB);
}

/** A healthy caller, in turns with and without slow senders and stalled readers around it. */
async function slow(stage: SoakStage): Promise<unknown> {
  return { slowSenders: STREAMS, stalledReaders: STREAMS, ...(await beside(stage, 'soak-attacker.ts', FILL_MS)) };
}

/** A healthy caller, in turns with and without strangers who post large bodies to a public route (CP-11). */
async function bodies(stage: SoakStage): Promise<unknown> {
  return beside(stage, 'soak-body-attacker.ts', 0);
}

/** A healthy caller beside 200 connections that ask for one page over and over: strangers, and a free account on the console. */
async function pages(stage: SoakStage): Promise<unknown> {
  const { appId, cookie } = await stage.addFreeAccount();
  const paths = {
    search: '/guides?for=operators&q=database+backup',
    status: '/status',
    'sign-in': '/sign-in',
    console: `/console/${appId}`,
  };
  const attacker = await stage.startClient('soak-page-attacker.ts', { paths, cookie });
  await call(stage, CALLS_PER_WINDOW);
  const p50 = async () => {
    const taken: number[] = [];
    const until = performance.now() + PAGE_WINDOW_MS;
    while (performance.now() < until) taken.push(...(await call(stage, 1)));
    return quantile(taken, 0.5);
  };
  const figures: Record<string, unknown> = {};
  for (const name of Object.keys(paths)) {
    const alone = await p50();
    await attacker.tell(name);
    const among = await p50();
    const seen = await attacker.tell('stop');
    figures[name] = { aloneP50Ms: alone, amongP50Ms: among, ratio: rounded(among / alone), seen };
    console.log(name, JSON.stringify(figures[name]));
  }
  return figures;
}

async function beside(stage: SoakStage, attack: string, fillMs: number) {
  await call(stage, CALLS_PER_WINDOW);
  const attacker = await stage.startClient(attack);
  const alone: number[] = [];
  const among: number[] = [];
  const memory: number[] = [];
  const cpu = { alone: 0, among: 0 };
  let seen: unknown;
  for (let window = 0; window < WINDOWS; window += 1) {
    cpu.alone -= await cpuMsOf(stage);
    alone.push(...(await call(stage, CALLS_PER_WINDOW)));
    cpu.alone += await cpuMsOf(stage);
    cpu.among -= await cpuMsOf(stage);
    await attacker.tell('start');
    await sleep(fillMs);
    console.log(`window ${window + 1}: in place`);
    among.push(...(await call(stage, CALLS_PER_WINDOW)));
    memory.push((await memoryOf(stage)).resident);
    seen = await attacker.tell('stop');
    cpu.among += await cpuMsOf(stage);
    await stage.checkBooks(); // Waits until everything that they held is settled.
  }
  const of = (times: readonly number[]) => ({ median: quantile(times, 0.5), p99: quantile(times, 0.99) });
  return {
    windows: WINDOWS,
    callsInEach: CALLS_PER_WINDOW,
    seen,
    residentAmong: memory,
    serviceCpu: cpuShares(cpu, seen),
    aloneMs: of(alone),
    amongMs: of(among),
    ratioOfMedians: rounded(quantile(among, 0.5) / quantile(alone, 0.5)),
    ratioOfP99: rounded(quantile(among, 0.99) / quantile(alone, 0.99)),
  };
}

/**
 * What the service itself spends on a paid call, and on a request of the attack. The times of calls also hold the waits for a core
 * that the attacker or the provider has; processor time does not.
 */
function cpuShares(cpu: { readonly alone: number; readonly among: number }, seen: unknown) {
  const calls = WINDOWS * CALLS_PER_WINDOW;
  const { requests } = seen as { readonly requests?: number };
  const msPerPaidCall = cpu.alone / calls;
  if (requests === undefined) return { msPerPaidCall: rounded(msPerPaidCall) };
  const msPerAttackingRequest = (cpu.among - cpu.alone) / requests;
  return {
    msPerPaidCall: rounded(msPerPaidCall),
    msPerAttackingRequest: rounded(msPerAttackingRequest),
    ratio: rounded(msPerAttackingRequest / msPerPaidCall),
  };
}

async function cpuMsOf({ service }: SoakStage): Promise<number> {
  return 1_000 * ((await scrape(service.url)).get('purser_process_cpu_seconds_total') ?? 0);
}

/** Makes buffered calls one after another, and returns how many milliseconds each took. */
async function call({ service, app }: SoakStage, times: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const startedAt = performance.now();
    const reply = await chat({ url: service.url, key: app.liveKey, user: USER });
    if (reply.status !== 200) throw new Error(`A healthy call was refused: ${reply.text}`);
    taken.push(performance.now() - startedAt);
  }
  return taken;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

async function memoryOf({ service }: SoakStage) {
  const series = await scrape(service.url);
  const of = (name: string): number => series.get(name) ?? 0;
  return { resident: of('purser_process_resident_memory_bytes'), heap: of('purser_process_heap_used_bytes') };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
