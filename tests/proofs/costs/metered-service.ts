// The service in a separate process that counts what its calls cost. Machine load changes none of these counts but the allocated bytes, to which
// workers add by the time that passes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { catalogueAt } from '../../support/catalogue.ts';
import { COMPLETIONS } from '../../support/client.ts';
import { createGate } from '../../support/gate.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { createTestGround } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

const INSIDE = new URL('meter-inside.ts', import.meta.url).href;
const METER = /The meter is at (\S+) now/;
const USER = 'user';
const BALANCE = 1_000_000_000;
const ENVIRONMENT = {
  PURSER_ENV: 'production',
  PURSER_SECRET: 'a secret of the tests, known to one process',
  PURSER_PUBLIC_URL: 'https://purser.test',
  NODE_OPTIONS: `--import=${INSIDE}`,
};

/** What a process has done since it started. */
export interface Counts {
  /** The statements that ran, by name or by the beginning of the text. */
  readonly statements: Readonly<Record<string, number>>;
  /** The connections that it opened, by the port of the other side. */
  readonly connections: Readonly<Record<string, number>>;
  /** The writes of all sockets, by the port that the other side listens on, or by our own listening port. */
  readonly writes: Readonly<Record<string, number>>;
  /** Chunks of a provider that were parsed. */
  readonly chunkParses: number;
  /** The bytes on the JavaScript heap, including what has been collected since. */
  readonly allocatedBytes: number;
}

/** How many functions of ours each file had that ran for every one of some calls. */
export type Walk = Readonly<Record<string, number>>;

/** What some calls have cost, all of them together. */
export interface Cost {
  readonly calls: number;
  readonly statements: ReadonlyMap<string, number>;
  readonly connectionsToProvider: number;
  readonly writesToProvider: number;
  readonly writesToCaller: number;
  readonly chunkParses: number;
  readonly allocatedBytes: number;
  readonly durationMs: number;
}

interface Load {
  readonly calls: number;
  /** How many run at any time. */
  readonly atOnce: number;
  /** The body of each request, as JSON. */
  readonly body: object;
}

interface Burst {
  readonly calls: number;
  readonly body: object;
  /** The provider's answer to each request. */
  readonly answer: string;
}

export type MeteredService = Awaited<ReturnType<typeof startMeteredService>>;

/** One process, one app, one user, a separate database and upstream. Callers keep their connections. */
export async function startMeteredService() {
  const upstream = await startScriptedUpstream();
  const catalogue = catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 });
  const ground = await createTestGround(catalogue);
  const app = await ground.addApp();
  await ground.fund(app, USER, BALANCE);
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-metered-'));
  const databaseUrl = ground.database.url;
  const service = await startServiceProcess({ dataDirectory, catalogue, databaseUrl, environment: ENVIRONMENT });
  const meterUrl = await waitUntil('the meter has started', () => METER.exec(service.said())?.[1]);
  const agent = new Agent({ keepAlive: true });
  const caller: Caller = { url: service.url + COMPLETIONS, key: app.liveKey, agent };

  const costDuring = async (calls: number, work: () => Promise<void>): Promise<Cost> => {
    const before = await readMeter(meterUrl);
    const beganMs = performance.now();
    await work();
    const durationMs = performance.now() - beganMs;
    const after = await readMeter(meterUrl);
    return costBetween(before, after, { calls, durationMs, provider: upstream.baseUrl, service: service.url });
  };
  return {
    upstream,
    /** Makes the calls, each of which must get a 200, and returns their cost. */
    costOf: (load: Load) => costDuring(load.calls, () => callInTurn(caller, load)),
    /**
     * The same for calls that all arrive at one moment and all get the provider's answer at one moment, however busy the
     * machine is. The process is stopped while they are sent and while they are answered.
     */
    costOfBurst: (burst: Burst) =>
      costDuring(burst.calls, () => callAtOnce(caller, { ...burst, upstream, pid: service.pid })),
    /** Makes the calls one after another, and returns which functions all of them have entered. */
    walkOf: async (calls: number, body: object): Promise<Walk> => {
      await readMeter<Walk>(`${meterUrl}0`);
      await callInTurn(caller, { calls, atOnce: 1, body });
      return readMeter<Walk>(meterUrl + calls);
    },
    /** What the service's own workers cost while nobody calls, for so long. */
    costOfIdling: (durationMs: number) => costDuring(0, () => pause(durationMs)),
    close: async () => {
      agent.destroy();
      await service.stop();
      await upstream.close();
      assert.deepEqual(await ground.check(), []);
      await ground.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function readMeter<Read = Counts>(url: string): Promise<Read> {
  const response = await fetch(url);
  return (await response.json()) as Read;
}

interface Caller {
  readonly url: string;
  readonly key: string;
  readonly agent: Agent;
}

async function callInTurn(caller: Caller, { calls, atOnce, body }: Load): Promise<void> {
  let left = calls;
  const runCaller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await answered(send(caller, body));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runCaller));
}

interface StagedBurst extends Burst {
  readonly upstream: ScriptedUpstream;
  readonly pid: number;
}

async function callAtOnce(caller: Caller, { calls, body, answer, upstream, pid }: StagedBurst): Promise<void> {
  const gate = createGate();
  const headers = { 'content-type': 'application/json' };
  upstream.script({ headers, body: [{ waitFor: gate.opened }, { write: answer }] });
  const first = upstream.requests.length;
  const ended: Promise<void>[] = [];
  await whileStopped(pid, () => {
    const sent = Array.from({ length: calls }, () => send(caller, body));
    for (const one of sent) ended.push(answered(one));
    return Promise.all(sent.map((one) => once(one, 'finish')));
  });
  await upstream.arrival(first + calls - 1);
  await whileStopped(pid, () => {
    gate.open();
    return Promise.all(upstream.requests.slice(first).map(({ closed }) => closed));
  });
  await Promise.all(ended);
}

async function whileStopped(pid: number, work: () => Promise<unknown>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

function send({ url, key, agent }: Caller, body: object): ClientRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${key}`,
    'x-service-user': USER,
    'content-type': 'application/json',
    'content-length': bytes.length,
  };
  return request(url, { method: 'POST', agent, headers }).end(bytes);
}

async function answered(sent: ClientRequest): Promise<void> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const said = await text(answer);
  assert.equal(answer.statusCode, 200, said);
}

interface Measured extends Pick<Cost, 'calls' | 'durationMs'> {
  readonly provider: string;
  readonly service: string;
}

function costBetween(before: Counts, after: Counts, { calls, durationMs, provider, service }: Measured): Cost {
  const grown = (of: 'statements' | 'connections' | 'writes', key: string): number =>
    (after[of][key] ?? 0) - (before[of][key] ?? 0);
  const kinds = Object.keys(after.statements).map((kind) => [kind, grown('statements', kind)] as const);
  return {
    calls,
    statements: new Map(kinds.filter(([, times]) => times > 0)),
    connectionsToProvider: grown('connections', portOf(provider)),
    writesToProvider: grown('writes', portOf(provider)),
    writesToCaller: grown('writes', portOf(service)),
    chunkParses: after.chunkParses - before.chunkParses,
    allocatedBytes: after.allocatedBytes - before.allocatedBytes,
    durationMs,
  };
}

function portOf(url: string): string {
  return new URL(url).port;
}
