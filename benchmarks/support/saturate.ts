import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, figure, type Row } from '../measure.ts';
import { cpuMicrosOf, memoryOf } from './cpu.ts';
import type { Ground } from './ground.ts';
import { startTally } from './tally.ts';
import type { Target } from './target.ts';
import { runWrk, type WrkResult } from './wrk.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 1;
/**
 * The length of the warm-up before the first round, for programs that are compiled as they run, unless a target says
 * otherwise.
 */
const FIRST_WARM_UP_SECONDS = 2;
/** The share by which the mean length of answers may differ between a warm-up and what is measured. */
const LENGTH_TOLERANCE = 0.02;
/** What is under way when the generator stops is settled and cleared up by then. */
const SETTLE_MS = 300;

interface Sample {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly service: number;
  readonly database: number;
  readonly memory: number;
}

interface Stretch {
  readonly sample: Sample;
  readonly answered: number;
  readonly fault: string | undefined;
}

interface Place {
  readonly cores: Pick<Ground['cores'], 'load'>;
}

/**
 * Makes as many calls as so many connections can make, each with its next call when its last is answered. Each round
 * covers all targets in turn, and every second round runs in the opposite order. Gives nothing without wrk.
 */
export async function saturate(
  bench: Bench,
  place: Place,
  targets: readonly Target[],
  connections = CONNECTIONS,
): Promise<readonly Row[]> {
  const tally = await startTally(targets);
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
  const faults = new Map<Target, string>();
  for (let round = 1; round <= bench.rounds; round += 1) {
    // Forth and back: what is measured after an idle stretch costs more, so no target may always come after the same one.
    for (const target of round % 2 === 1 ? targets : targets.toReversed()) {
      const stretch = await runStretch(bench, place, target, { connections, isFirst: round === 1 });
      if (stretch === undefined) return [];
      const { sample, answered, fault } = stretch;
      if (fault !== undefined) faults.set(target, fault);
      samples.get(target)?.push(sample);
      tally.count(target, { answered, cutOff: 2 * connections });
      bench.say(
        `round ${round}, ${target.name}: ${Math.round(sample.rate)} calls/s, p50 ${sample.p50.toFixed(3)} ms, ` +
          `service ${sample.service.toFixed(1)} us, database ${sample.database.toFixed(1)} us a call` +
          (fault === undefined ? '' : `; VOID: ${fault}`),
      );
    }
  }
  const booksFaultOf = await tally.judge(bench);
  return targets.map((target) => rowOf(target, samples.get(target) ?? [], faults.get(target) ?? booksFaultOf(target)));
}

/** A warm-up in which every answer is looked into, and a measurement. */
async function runStretch(
  bench: Bench,
  { cores }: Place,
  target: Target,
  { connections, isFirst }: { readonly connections: number; readonly isFirst: boolean },
): Promise<Stretch | undefined> {
  const { wrk } = bench.tools;
  if (wrk === undefined) return undefined;
  const options = { tools: { ...bench.tools, wrk }, cores: cores.load, directory: bench.directory, connections };
  const warmUp = await runWrk(target.load, {
    ...options,
    seconds: isFirst ? (target.firstWarmUpSeconds ?? FIRST_WARM_UP_SECONDS) : WARM_UP_SECONDS,
    checks: true,
  });
  const { result, ...sample } = await measured(target, () =>
    runWrk(target.load, { ...options, seconds: bench.seconds, checks: false }),
  );
  const fault = faultOf(warmUp) ?? faultOf(result) ?? differenceOf(warmUp, result, connections);
  return { sample, answered: warmUp.calls + result.calls, fault };
}

async function measured(
  target: Target,
  run: () => Promise<WrkResult>,
): Promise<Sample & { readonly result: WrkResult }> {
  const read = () => ({
    service: cpuMicrosOf(target.pid),
    database: target.databasePid === undefined ? 0 : cpuMicrosOf(target.databasePid),
  });
  const before = read();
  const result = await run();
  await sleep(SETTLE_MS);
  const after = read();
  return {
    result,
    rate: (result.calls / result.micros) * 1_000_000,
    p50: result.p50 / 1_000,
    p99: result.p99 / 1_000,
    service: (after.service - before.service) / result.calls,
    database: (after.database - before.database) / result.calls,
    memory: memoryOf(target.pid) / 2 ** 20,
  };
}

function faultOf({ calls, bad, refused, broken, late }: WrkResult): string | undefined {
  if (calls === 0) return 'no call was answered';
  if (bad + refused + broken + late === 0) return undefined;
  return `of ${calls} answers ${bad} were wrong and ${refused} errors; ${broken} connections failed, ${late} timed out`;
}

/** Answers that nobody looked into are as long as those that were; bytes of those that were cut off are counted too. */
function differenceOf(checked: WrkResult, unchecked: WrkResult, connections: number): string | undefined {
  const [one, other] = [checked.bytes / checked.calls, unchecked.bytes / unchecked.calls];
  const cutOffShare = connections / Math.min(checked.calls, unchecked.calls);
  if (Math.abs(one - other) <= one * (LENGTH_TOLERANCE + cutOffShare)) return undefined;
  return `answers had ${Math.round(other)} bytes, those that were looked into ${Math.round(one)}`;
}

function rowOf({ name, databasePid }: Target, samples: readonly Sample[], fault: string | undefined): Row {
  const column = (unit: string, valueOf: (sample: Sample) => number) => figure(unit, samples.map(valueOf));
  return {
    target: name,
    figures: {
      'calls/s': column('calls/s', ({ rate }) => rate),
      p50: column('ms', ({ p50 }) => p50),
      p99: column('ms', ({ p99 }) => p99),
      service: column('us/call', ({ service }) => service),
      ...(databasePid === undefined ? {} : { database: column('us/call', ({ database }) => database) }),
      memory: column('MiB', ({ memory }) => memory),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}
