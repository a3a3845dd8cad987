import { type ArmedNames, nextFailpoint } from './failpoint-order.ts';
import { type GatewayProcess, type Life, startGatewayProcess } from './gateway-process.ts';
import type { Random } from './random.ts';

/** The gateway processes of a history: as many as it has, each started anew when it has died. */
export interface Fleet {
  /** The process in a place, with its address; undefined while there is none. */
  readonly at: (place: number) => { readonly url: string; readonly life: Life } | undefined;
  readonly kill: (place: number) => void;
  readonly stopFor: (place: number, ms: number) => void;
  /** Lets all go on, arms nothing more, and resolves when every place has a process that serves. */
  readonly settle: () => Promise<void>;
  readonly end: () => Promise<void>;
  readonly counts: FleetCounts;
}

export interface FleetCounts {
  kills: number;
  stops: number;
  failpointKills: number;
  failpointStops: number;
  readonly fired: Map<string, number>;
}

interface FleetOptions {
  readonly places: number;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly catalogueFile: string;
  readonly random: Random;
  readonly failpoints: ArmedNames;
  /** How long a failpoint of the kind `stop` holds its process. */
  readonly stopMsMax: number;
}

interface Place {
  process: GatewayProcess | undefined;
  url: string | undefined;
}

const RESTART_MS = 300;
const ARMED_SHARE = 0.8;
const STOP_SHARE = 0.15;
const HITS_MAX = 6;
const END_MS_MAX = 5_000;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { random } = options;
  const places: Place[] = Array.from({ length: options.places }, () => ({ process: undefined, url: undefined }));
  const counts: FleetCounts = { kills: 0, stops: 0, failpointKills: 0, failpointStops: 0, fired: new Map() };
  let isQuiet = false;
  let isEnding = false;

  function choose(): string | undefined {
    const name = nextFailpoint(options.failpoints);
    const hit = random.whole(1, HITS_MAX);
    const act = random.chance(STOP_SHARE) ? 'stop' : 'kill';
    return random.chance(ARMED_SHARE) && !isQuiet ? `${name}:${hit}:${act}` : undefined;
  }

  function onFailpoint(place: Place, name: string, act: string): void {
    counts.fired.set(name, (counts.fired.get(name) ?? 0) + 1);
    if (act === 'kill') counts.failpointKills += 1;
    else {
      counts.failpointStops += 1;
      letGoOn(place.process, isQuiet ? 0 : random.whole(100, options.stopMsMax));
    }
  }

  function letGoOn(process: GatewayProcess | undefined, ms: number): void {
    setTimeout(() => process?.signal('SIGCONT'), ms);
  }

  async function keep(index: number, place: Place): Promise<void> {
    while (!isEnding) {
      const process = startGatewayProcess({
        databaseUrl: options.databaseUrl,
        dataDirectory: options.directory,
        catalogueFile: options.catalogueFile,
        logFile: `${options.directory}/gateway-${index}.log`,
        failpoint: choose(),
        onFailpoint: (name, act) => onFailpoint(place, name, act),
      });
      place.process = process;
      place.url = await process.ready;
      await process.ended;
      place.url = undefined;
      if (!isEnding) await sleep(RESTART_MS);
    }
  }

  const [first, ...others] = places;
  const kept: Promise<void>[] = [];
  if (first !== undefined) kept.push(keep(0, first));
  await until(() => first?.url !== undefined); // Alone: it makes the demo's keys and the schema, the others find them.
  for (const [index, place] of others.entries()) kept.push(keep(index + 1, place));
  await until(() => places.every(({ url }) => url !== undefined));

  return {
    counts,
    at: (index) => {
      const { url, process } = places[index] ?? {};
      return url === undefined || process === undefined ? undefined : { url, life: process.life };
    },
    kill: (index) => {
      if (places[index]?.url === undefined) return;
      counts.kills += 1;
      places[index].process?.signal('SIGKILL');
    },
    stopFor: (index, ms) => {
      const process = places[index]?.process;
      if (process === undefined || places[index]?.url === undefined) return;
      counts.stops += 1;
      process.signal('SIGSTOP');
      letGoOn(process, ms);
    },
    settle: async () => {
      isQuiet = true;
      for (const { process } of places) process?.signal('SIGCONT');
      await until(() => places.every(({ url }) => url !== undefined));
    },
    end: async () => {
      isEnding = true;
      for (const { process } of places) {
        process?.signal('SIGCONT');
        process?.signal('SIGTERM');
      }
      await Promise.race([Promise.all(kept), sleep(END_MS_MAX)]);
      for (const { process } of places) process?.signal('SIGKILL');
      await Promise.all(kept);
    },
  };
}

const START_MS_MAX = 60_000;

async function until(holds: () => boolean): Promise<void> {
  const limit = performance.now() + START_MS_MAX;
  while (!holds()) {
    if (performance.now() > limit) throw new Error('The gateways did not start.');
    await sleep(20);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
