import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseProxy } from '../../support/database-proxy.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type ArmedNames, nextFailpoint } from './failpoint-order.ts';
import { type GatewayProcess, type Life, startGatewayProcess } from './gateway-process.ts';
import type { Random } from './random.ts';
import { sleep } from './sleep.ts';

/** The gateway processes of a history. Each is restarted when it has died. */
export interface Fleet {
  /** The process in a place, with its address. Undefined while there is none. */
  readonly at: (place: number) => { readonly url: string; readonly life: Life } | undefined;
  readonly kill: (place: number) => void;
  readonly stopFor: (place: number, ms: number) => void;
  /** Cuts the last gateway off from the database. Only if it is apart. */
  readonly cutOffFor: (ms: number) => void;
  /** Resumes all processes, arms nothing more, and resolves when every place has a process that serves. */
  readonly settle: () => Promise<void>;
  /** Replaces processes that are still armed. Call it only after checking for leaks, because theirs would vanish with them. */
  readonly disarm: () => Promise<void>;
  readonly end: () => Promise<void>;
  readonly counts: FleetCounts;
}

export interface FleetCounts {
  kills: number;
  stops: number;
  cuts: number;
  failpointKills: number;
  failpointStops: number;
  readonly fired: Map<string, number>;
}

interface FleetOptions {
  readonly places: number;
  readonly databaseUrl: string;
  readonly directory: string;
  /** The way to the database and the data directory of the last gateway, as if it were on another machine. */
  readonly apart: { readonly proxy: DatabaseProxy; readonly dataDirectory: string } | undefined;
  readonly catalogueFile: string;
  readonly random: Random;
  /** The failpoints that processes are armed with. It is undefined if no process is armed. */
  readonly failpoints: ArmedNames | undefined;
  /** How long a failpoint of the kind `stop` holds its process. */
  readonly stopMsMax: number;
}

const RESTART_MS = 300;
const START_MS_MAX = 60_000;
const END_MS_MAX = 5_000;
const ARMED_SHARE = 0.8;
const STOP_SHARE = 0.15;
const HITS_MAX = 6;
/** While a gateway is cut off, this one lives, so that somebody releases the holds of the other. */
export const SPARED = 0;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const counts: FleetCounts = { kills: 0, stops: 0, cuts: 0, failpointKills: 0, failpointStops: 0, fired: new Map() };
  const places = Array.from({ length: options.places }, (_, index) => new Place(options, index, counts));
  const serve = () => waitUntil('all gateways serve', () => places.every(({ url }) => url !== undefined), START_MS_MAX);
  const kept: Promise<void>[] = [];
  const end = async (): Promise<void> => {
    for (const place of places) place.end('SIGTERM');
    await Promise.race([Promise.all(kept), sleep(END_MS_MAX)]);
    for (const place of places) place.end('SIGKILL');
    await Promise.all(kept);
  };
  try {
    for (const [index, place] of places.entries()) {
      if (index === places.length - 1 && options.apart !== undefined)
        furnish(options.apart.dataDirectory, options.directory);
      kept.push(place.keep());
      // The first one starts alone: it creates the schema and the demo's keys for the others.
      if (index === 0) await waitUntil('the first gateway serves', () => place.url !== undefined, START_MS_MAX);
    }
    await serve();
  } catch (fault) {
    await end(); // Those that were slow to start would stay for good.
    throw fault;
  }
  return {
    counts,
    at: (index) => places[index]?.serving(),
    kill: (index) => places[index]?.kill(),
    stopFor: (index, ms) => places[index]?.stopFor(ms),
    cutOffFor: (ms) => places.at(-1)?.cutOffFor(ms),
    settle: async () => {
      for (const place of places) place.calmDown();
      await serve();
    },
    disarm: async () => {
      for (const place of places) place.disarm();
      await serve();
    },
    end,
  };
}

/** The secret and the keys that the gateways of a service share, also those on other machines. */
const SHARED_FILES = ['secret', 'demo.json'];

function furnish(dataDirectory: string, from: string): void {
  mkdirSync(dataDirectory, { mode: 0o711 });
  for (const name of SHARED_FILES) copyFileSync(path.join(from, name), path.join(dataDirectory, name));
}

/** One of the gateways of a history, through all its lives. */
class Place {
  url: string | undefined;
  readonly #options: FleetOptions;
  readonly #index: number;
  readonly #counts: FleetCounts;
  #process: GatewayProcess | undefined;
  #isArmed = false;
  #cutFrom: number | undefined;
  #isCalm = false;
  #isEnding = false;

  constructor(options: FleetOptions, index: number, counts: FleetCounts) {
    this.#options = options;
    this.#index = index;
    this.#counts = counts;
  }

  async keep(): Promise<void> {
    const { databaseUrl, directory, catalogueFile } = this.#options;
    const apart = this.#apart();
    while (!this.#isEnding) {
      const failpoint = this.#chooseFailpoint();
      this.#isArmed = failpoint !== undefined;
      const process = startGatewayProcess({
        databaseUrl: apart?.proxy.url ?? databaseUrl,
        dataDirectory: apart?.dataDirectory ?? directory,
        catalogueFile,
        logFile: `${directory}/gateway-${this.#index}.log`,
        failpoint,
        onFailpoint: (name, act) => this.#onFailpoint(name, act),
      });
      this.#process = process;
      if (this.#cutFrom !== undefined) process.life.cuts.push({ from: this.#cutFrom, to: undefined });
      this.url = await process.ready;
      await process.ended;
      this.url = undefined;
      if (!this.#isEnding) await sleep(RESTART_MS);
    }
  }

  serving(): ReturnType<Fleet['at']> {
    const life = this.#process?.life;
    return this.url === undefined || life === undefined ? undefined : { url: this.url, life };
  }

  kill(): void {
    if (this.url === undefined) return;
    this.#counts.kills += 1;
    this.url = undefined;
    this.#process?.signal('SIGKILL');
  }

  stopFor(ms: number): void {
    if (this.url === undefined) return;
    this.#counts.stops += 1;
    this.#process?.signal('SIGSTOP');
    this.#letGoOn(ms);
  }

  /** Cuts the process off: from now on it cannot reach the database, nor can those that replace it. */
  cutOffFor(ms: number): void {
    const apart = this.#apart();
    if (apart === undefined) return;
    this.#counts.cuts += 1;
    const from = performance.now();
    this.#cutFrom = from;
    this.#process?.life.cuts.push({ from, to: undefined });
    apart.proxy.reset();
    setTimeout(() => this.#restore(), ms);
  }

  #restore(): void {
    const now = performance.now();
    this.#apart()?.proxy.restore();
    this.#cutFrom = undefined;
    for (const cut of this.#process?.life.cuts ?? []) cut.to ??= now;
  }

  #apart(): FleetOptions['apart'] {
    return this.#index === this.#options.places - 1 ? this.#options.apart : undefined;
  }

  /** Stops all faults here, except the armed failpoint if a call reaches it. */
  calmDown(): void {
    this.#isCalm = true;
    this.#process?.signal('SIGCONT');
  }

  /** Replaces an armed process with one that is not. */
  disarm(): void {
    if (!this.#isArmed || this.#process?.life.endedAt !== undefined) return;
    this.#counts.kills += 1;
    this.url = undefined;
    this.#process?.signal('SIGKILL');
  }

  end(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#isEnding = true;
    this.#process?.signal('SIGCONT');
    this.#process?.signal(signal);
  }

  #chooseFailpoint(): string | undefined {
    const { random, failpoints } = this.#options;
    const isSpared = this.#apart() !== undefined || (this.#index === SPARED && this.#options.apart !== undefined);
    if (failpoints === undefined || isSpared) return undefined;
    const name = nextFailpoint(failpoints);
    const hit = random.whole(1, HITS_MAX);
    const act = random.chance(STOP_SHARE) ? 'stop' : 'kill';
    return random.chance(ARMED_SHARE) && !this.#isCalm ? `${name}:${hit}:${act}` : undefined;
  }

  #onFailpoint(name: string, act: string): void {
    const { random, stopMsMax } = this.#options;
    this.#counts.fired.set(name, (this.#counts.fired.get(name) ?? 0) + 1);
    this.#isArmed = false;
    if (act === 'kill') this.#counts.failpointKills += 1;
    else {
      this.#counts.failpointStops += 1;
      this.#letGoOn(this.#isCalm ? 0 : random.whole(100, stopMsMax));
    }
  }

  #letGoOn(ms: number): void {
    const process = this.#process;
    setTimeout(() => process?.signal('SIGCONT'), ms);
  }
}
