import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { catalogueAt, chargeFor, withVectors } from '../../support/catalogue.ts';
import { scrape } from '../../support/metrics.ts';
import { createTestGround, type TestApp, type TestGround } from '../../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { judge } from './judge.ts';
import { startPlainProvider, USAGE } from './provider.ts';
import { hostileRequest, type HostileRequest, LEAVER, STEADY } from './requests.ts';
import { sendHostile, within } from './send-hostile.ts';

interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  /** How many requests run at a time. */
  readonly slots: number;
  /** The number of the first request, to send a single one again. */
  readonly first?: number;
  readonly onProgress?: (sent: number, memory: Memory) => void;
}

/** The memory of the service process, in bytes. */
type Memory = Awaited<ReturnType<typeof memoryOf>>;

interface Fuzzed {
  readonly connections: number;
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of connections by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** The number of calls that were answered, by their path. */
  readonly answered: Readonly<Record<string, number>>;
  /** The charge of the wallet whose calls were never left halfway. */
  readonly charged: number;
  /** The memory after the first requests, at its maximum, and at the end. */
  readonly memory: { readonly start: Memory; readonly most: Memory; readonly end: Memory };
  /** What was wrong. It is empty if nothing was. */
  readonly violations: readonly string[];
}

const CREDIT = 1_000_000_000_000;
/** Before this many requests, the process has not compiled and loaded everything it needs. */
const WARM_UP = 500;
const LOOK_EVERY = 250;
/** A stop waits only for running calls, and there are none. */
const STOP_MS_MAX = 20_000;
const VIOLATIONS_MAX = 20;
/** Longer requests go to a file instead of the line that the violation prints. */
const SHOWN_BYTES_MAX = 2_000;

/** Sends hostile requests to a service process, and reports what went wrong. Needs the run's PostgreSQL server. */
export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  await using owned = new AsyncDisposableStack();
  const provider = await startPlainProvider();
  owned.defer(provider.close);
  const catalogue = withVectors(catalogueAt(provider.baseUrl, { imageTokensMax: 1_000, timeoutMs: 60_000 }));
  const ground = await createTestGround(catalogue);
  owned.defer(ground.close);
  const app = await ground.addApp({ maxStreamsPerUser: 1_000_000 });
  for (const user of [STEADY, LEAVER]) await ground.fund(app, user, CREDIT);
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-fuzz-'));
  owned.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const environment = {
    PURSER_LOG_LEVEL: 'error',
    PURSER_ENV: 'production',
    PURSER_SECRET: 'a secret of the hostile tests, long enough',
    PURSER_PUBLIC_URL: 'https://purser.test',
    // All requests come from one address, and a refusal for their pace would hide what they do.
    PURSER_ACCOUNT_RATE_PER_MINUTE: '1000000',
    PURSER_ACCOUNT_RATE_BURST: '1000000',
  };
  const service = await startServiceProcess({
    dataDirectory,
    catalogue,
    databaseUrl: ground.database.url,
    environment,
  });
  owned.defer(service.kill); // If it did not stop by itself.
  return await attack(options, { ground, app, service });
}

interface Target {
  readonly ground: TestGround;
  readonly app: TestApp;
  readonly service: ServiceProcess;
}

async function attack(options: FuzzOptions, target: Target): Promise<Fuzzed> {
  const { seed, requests, slots, first = 0, onProgress } = options;
  const { app, service } = target;
  const tally = createTally();
  const violations: string[] = [];
  let next = first;
  let start = await memoryOf(service);
  let most = start;

  async function look(sent: number): Promise<void> {
    const memory = await memoryOf(service);
    if (sent === WARM_UP) start = memory;
    most = { resident: Math.max(most.resident, memory.resident), heap: Math.max(most.heap, memory.heap) };
    onProgress?.(sent, memory);
  }

  async function runSlot(): Promise<void> {
    while (next < first + requests && violations.length < VIOLATIONS_MAX) {
      const index = next;
      next += 1;
      if (index > first && (index - first) % LOOK_EVERY === 0) await look(index - first);
      const request = hostileRequest(seed, index, app);
      const heard = await sendHostile(service.url, request);
      tally.add(request, heard.answers);
      const wrong = judge(request, heard);
      if (wrong.length > 0) violations.push(shownViolation(seed, index, request, wrong));
      if (heard.stuck === 'not connected') break; // The service is gone, so there is no point in sending more.
    }
  }

  await Promise.all(Array.from({ length: slots }, runSlot));
  violations.push(...(await faultsOfBooks(target, tally.charged()).catch((fault: unknown) => [String(fault)])));
  const end = await memoryOf(service).catch(() => most);
  if (!(await within(service.stop(), STOP_MS_MAX)))
    violations.push('the service does not stop: it waits for something');
  const said = service.said();
  if (said.includes('"level":"error"')) violations.push(`the service logged a fault: ${said.slice(0, 5_000)}`);
  const { statuses, kinds, answered } = tally;
  return {
    connections: next - first,
    statuses,
    kinds,
    answered,
    charged: tally.charged(),
    memory: { start, most, end },
    violations,
  };
}

async function memoryOf({ url }: ServiceProcess) {
  const series = await scrape(url);
  const of = (name: string): number => series.get(name) ?? 0;
  return { resident: of('purser_process_resident_memory_bytes'), heap: of('purser_process_heap_used_bytes') };
}

function createTally() {
  const statuses: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  const answered: Record<string, number> = {};
  let charged = 0;
  return {
    statuses,
    kinds,
    answered,
    charged: () => charged,
    add: (request: HostileRequest, answers: readonly { status: number; headers: ReadonlyMap<string, string> }[]) => {
      kinds[request.kind] = (kinds[request.kind] ?? 0) + 1;
      for (const { status, headers } of answers) {
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 200 && request.target !== undefined)
          answered[request.target] = (answered[request.target] ?? 0) + 1;
        if (request.ending === 'answered' && request.kind !== 'pipelined') charged += chargedBy(headers);
      }
    },
  };
}

/** What a buffered answer reports, and what a completed stream costs: both are the same call to the provider. */
function chargedBy(headers: ReadonlyMap<string, string>): number {
  if (headers.get('x-service-mode') === 'sandbox') return 0;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream ? chargeFor(USAGE) : Number(headers.get('x-service-charge-micros') ?? 0);
}

/** Nothing is held, each call costs what its caller was told, and the ledger agrees with itself (CC-08). */
async function faultsOfBooks({ ground, app }: Target, charged: number): Promise<readonly string[]> {
  const heldOf = async (): Promise<number> => {
    const held = await sqlValue<bigint>(ground)`select (select coalesce(sum(held_micros), 0)
      from ledger.wallets)::bigint
      + (select coalesce(sum(held_micros), 0) from sandbox.wallets)::bigint as held`;
    return Number(held);
  };
  await waitUntil('nothing is held', async () => (await heldOf()) === 0);
  const { balance } = await ground.wallet(app, STEADY);
  const differences = await ground.check();
  return [
    ...(balance === CREDIT - charged ? [] : [`${CREDIT - balance} micros are gone, ${charged} were reported`]),
    ...differences.map((difference) => `the ledger differs: ${JSON.stringify(difference, undefined, 1)}`),
  ];
}

function shownViolation(seed: number, index: number, request: HostileRequest, wrong: readonly string[]): string {
  const bytes = request.bytes.subarray(0, request.bytesSent);
  let shown = JSON.stringify(bytes.toString('latin1'));
  if (bytes.length > SHOWN_BYTES_MAX) {
    shown = path.join(os.tmpdir(), `purser-fuzz-${seed}-${index}.bin`);
    writeFileSync(shown, bytes);
  }
  return `seed ${seed}, request ${index} (${request.kind}): ${wrong.join('; ')}\n  bytes: ${shown}`;
}
