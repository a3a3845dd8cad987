// Builds the image and tries what the guide for containers promises: `npm run proofs -- container [--engine podman] [--base <image>]
// [--build-base <image>] [--tag <image>] [--network <of the build>] [--ulimit <limit>]`. With `--tag`, an image that is there is tried.
// An engine without the right to raise limits needs `--ulimit nofile=1024:1024 --ulimit nproc=2000:2000`.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startEmbeddedPostgres } from '../packages/service/src/embedded/embedded-postgres.ts';
import { findFreePort } from '../packages/service/src/embedded/server/free-port.ts';
import { VERSION } from '../packages/service/src/db/schema/functions.ts';
import { namedVersion, readBuild } from '../packages/service/src/kernel/build.ts';
import { createLog } from '../packages/service/src/kernel/log.ts';
import { chat, send } from '../tests/support/client.ts';
import { programAt } from '../tests/support/nginx.ts';
import { openStream } from '../tests/support/open-stream.ts';
import { waitUntil } from '../tests/support/wait-until.ts';
import { ROOT } from './toolchain.ts';

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    base: { type: 'string' },
    'build-base': { type: 'string' },
    tag: { type: 'string' },
    network: { type: 'string' },
    ulimit: { type: 'string', multiple: true, default: [] },
  },
});
const MISSING =
  'Neither Docker nor Podman is installed, so nothing was tried. Debian has both (docker.io with docker-buildx, podman). ' +
  '`--engine <program>` names another engine that takes the same commands.';
const LIMITS = values.ulimit.flatMap((limit) => ['--ulimit', limit]);
const NAME = `purser-try-${process.pid}`;
const STOP_SECONDS = 60;
/** No container is killed by its engine within this time, so a container that ends has ended itself. */
const PROMPT_MS_MAX = 5_000;

/** Tells whether the engine can be used. Docker without its service is of no use. */
function isUsable(engine: string): boolean {
  return spawnSync(engine, ['info'], { timeout: 20_000 }).status === 0;
}

async function tryAll(engine: string): Promise<void> {
  const startedMs = performance.now();
  const image = values.tag ?? build(engine);
  const builtMs = performance.now();
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-container-'));
  const database = await startEmbeddedPostgres({
    directory: path.join(directory, 'postgres'),
    log: createLog('silent'),
    say: () => {},
  });
  const container = new Container(engine, image);
  try {
    reportSize(container);
    refusesNothingSet(container);
    await endsDuringStart(container);
    const startMs = performance.now();
    await takesCall(container, database.url);
    const callMs = performance.now();
    await endsAfterStream(container, database.url);
    if (values.tag === undefined) console.log(`built in ${seconds(startedMs, builtMs)}`);
    console.log(`from \`run\` to the charged call, with the migrations: ${seconds(startMs, callMs)}`);
  } finally {
    container.remove();
    await database.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const seconds = (fromMs: number, toMs: number) => `${((toMs - fromMs) / 1_000).toFixed(1)} s`;

function build(engine: string): string {
  const { commit, date } = readBuild() ?? { commit: '', date: '' };
  const words = ['build', '-f', 'deploy/container/Dockerfile', '-t', NAME, '--build-arg', `BUILD=${commit} ${date}`];
  if (engine.endsWith('podman')) words.push('--format', 'docker');
  if (values.network !== undefined) words.push('--network', values.network);
  if (values.base !== undefined) words.push('--build-arg', `BASE=${values.base}`);
  if (values['build-base'] !== undefined) words.push('--build-arg', `BUILD_BASE=${values['build-base']}`);
  const { status } = spawnSync(engine, [...words, ...LIMITS, '.'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  assert.equal(status, 0, 'the image can be built');
  return NAME;
}

/** One container at a time, as the guide runs it, but in the network of the machine. */
class Container {
  readonly #engine: string;
  readonly #image: string;

  constructor(engine: string, image: string) {
    this.#engine = engine;
    this.#image = image;
  }

  /** Runs the engine and returns its exit status and everything that it wrote. */
  ask(...words: readonly string[]): { readonly status: number | null; readonly said: string } {
    const { status, stdout, stderr } = spawnSync(this.#engine, words, { encoding: 'utf8', timeout: 120_000 });
    return { status, said: stdout + stderr };
  }

  run(environment: Readonly<Record<string, string>>, how: readonly string[], ...command: readonly string[]) {
    const hardened = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--network', 'host'];
    // Docker gives a read-only container no writable folder besides its volumes, so Podman shall not either.
    if (this.#engine.endsWith('podman')) hardened.push('--read-only-tmpfs=false');
    const settings = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const disk = [...LIMITS, '--volume', `${NAME}:/var/lib/purser`];
    return this.ask('run', '--name', NAME, ...hardened, ...disk, ...how, ...settings, this.#image, ...command);
  }

  start(environment: Readonly<Record<string, string>>): void {
    const { status, said } = this.run(environment, ['--detach']);
    assert.equal(status, 0, said);
  }

  inspect(what: string): unknown {
    const { said } = this.ask('inspect', '--format', `{{json ${what}}}`, NAME);
    return JSON.parse(said);
  }

  image(what: string): string {
    return this.ask('image', 'inspect', '--format', `{{${what}}}`, this.#image).said.trim();
  }

  /** Sends SIGTERM and returns how long it took to end. The engine would kill it only after a minute. */
  async stop(): Promise<number> {
    const sinceMs = performance.now();
    await promisify(execFile)(this.#engine, ['stop', '--time', String(STOP_SECONDS), NAME]);
    return performance.now() - sinceMs;
  }

  exitCode(): number {
    return Number(this.inspect('.State.ExitCode'));
  }

  forget(): void {
    this.ask('rm', '--force', NAME);
  }

  remove(): void {
    this.forget();
    this.ask('volume', 'rm', '--force', NAME);
  }
}

function reportSize(container: Container): void {
  assert.equal(container.image('.Config.User'), '10001:10001');
  console.log(`the image has ${(Number(container.image('.Size')) / 1e6).toFixed(0)} MB`);
}

function refusesNothingSet(container: Container): void {
  const { status, said } = container.run({}, ['--rm']);
  assert.equal(status, 78, said);
  for (const name of ['PURSER_SECRET', 'PURSER_PUBLIC_URL']) assert.match(said, new RegExp(`${name} is required`));
  console.log('without settings it names what is missing, and ends');
  const { said: version } = container.run({}, ['--rm'], '--version');
  if (values.tag === undefined) assert.ok(version.includes(namedVersion(VERSION, readBuild())), version);
  console.log(`it is ${version.trim()}`);
}

/** A first process that does not listen for a signal cannot be ended by it. This database takes a connection and never answers. */
async function endsDuringStart(container: Container): Promise<void> {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const connected = once(silent, 'connection');
  const { port } = silent.address() as AddressInfo;
  container.start(development(`postgres://nobody@127.0.0.1:${port}/none`, await findFreePort()));
  await connected;
  const endMs = await container.stop();
  assert.ok(endMs < PROMPT_MS_MAX, `${endMs} ms`);
  assert.equal(container.exitCode(), 143);
  container.forget();
  silent.close();
  console.log(`told to stop during its start, it ended within ${endMs.toFixed(0)} ms`);
}

function development(databaseUrl: string, port: number): Readonly<Record<string, string>> {
  return {
    PURSER_ENV: 'development',
    PURSER_CATALOGUE: '',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: databaseUrl,
  };
}

interface Caller {
  readonly url: string;
  readonly key: string;
  readonly user: string;
}

async function startDemo(container: Container, databaseUrl: string): Promise<Caller> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  container.start(development(databaseUrl, port));
  await waitUntil('the service is ready', async () => {
    if (container.inspect('.State.Running') !== true) throw new Error(container.ask('logs', NAME).said);
    return send('/readyz', { url }).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  const demo = await waitUntil('the demo is there', () => {
    const { status, said } = container.ask('exec', NAME, 'cat', '/var/lib/purser/demo.json');
    return status === 0 && (JSON.parse(said) as { readonly liveKey: string; readonly userId: string });
  });
  return { url, key: demo.liveKey, user: demo.userId };
}

async function takesCall(container: Container, databaseUrl: string): Promise<void> {
  const caller = await startDemo(container, databaseUrl);
  const reply = await waitUntil('the call is answered', async () => {
    const answer = await chat({ ...caller, body: { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] } });
    return answer.status === 200 && answer;
  });
  assert.ok(Number(reply.headers.get('x-service-charge-micros')) > 0);
  console.log(`a call was charged ${reply.headers.get('x-service-charge-micros')} micros`);
  const { Test = [] } = container.inspect('.Config.Healthcheck') as { readonly Test?: readonly string[] };
  assert.equal(Test[0], 'CMD');
  const health = container.ask('exec', NAME, ...Test.slice(1));
  assert.equal(health.status, 0, health.said);
  const wrong = container.ask('exec', '--env', 'PORT=1', NAME, ...Test.slice(1));
  assert.notEqual(wrong.status, 0, 'the health check fails if nobody answers');
  const written = container.ask('exec', NAME, 'sh', '-c', 'touch /opt/x || touch /tmp/x || touch /etc/x');
  assert.notEqual(written.status, 0, written.said);
  console.log('the health check passes and fails as it should, and the root file system is read-only');
  await container.stop();
  assert.equal(container.exitCode(), 0);
  container.forget();
}

async function endsAfterStream(container: Container, databaseUrl: string): Promise<void> {
  const caller = await startDemo(container, databaseUrl);
  const before = await send('/balance', caller);
  const messages = [{ role: 'user', content: 'Say something long, and take your time over it.' }];
  const stream = await openStream(caller, { model: 'purser.demo-1-slow', messages, max_tokens: 40 });
  assert.equal(stream.status, 200);
  await stream.until('"content"');
  const sofar = (await stream.soFar()).length;
  const whole = stream.whole();
  const [stopMs, text] = await Promise.all([container.stop(), whole]);
  assert.match(text, /data: \[DONE\]\s*$/, 'the stream came to its end');
  assert.equal(container.exitCode(), 0);
  console.log(
    `told to stop in a stream (after ${sofar} of ${text.length} bytes), it sent the rest and ended after ${(stopMs / 1_000).toFixed(1)} s`,
  );
  container.forget();
  const check = container.run(development(databaseUrl, 0), ['--rm'], 'ledger', 'check');
  assert.equal(check.status, 0, check.said);
  assert.match(check.said, / 0 differences/);
  const again = await startDemo(container, databaseUrl);
  const after = await send('/balance', again);
  const charged = Number(before.body['balanceMicros']) - Number(after.body['balanceMicros']);
  assert.ok(charged > 0);
  assert.equal(after.body['heldMicros'] ?? 0, 0);
  console.log(`the stream was charged ${charged} micros, and the ledger check finds 0 differences`);
  await container.stop();
}

const found = values.engine ?? ['docker', 'podman'].find((one) => programAt(one) !== undefined && isUsable(one));
if (process.platform !== 'linux') console.log('This needs Linux: the containers use the network of the machine.');
else if (found === undefined) console.log(MISSING);
else await tryAll(found);
