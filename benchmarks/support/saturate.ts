import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, figure, type Row } from '../measure.ts';
import { cpuMicrosOf, memoryOf, watchOthers } from './cpu.ts';
import { watchBooks } from './books.ts';
import type { Ground } from './ground.ts';
import type { Target } from './targets.ts';
import { runWrk, type WrkResult } from './wrk.ts';

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 1;
/** Before the first round, for programs that are compiled as they run. */
const FIRST_WARM_UP_SECONDS = 3;
/** By which share the mean length of answers may differ between a warm-up and what is measured. */
const LENGTH_TOLERANCE = 0.02;
/** What is under way when the generator stops is settled and cleared up by then. */
const SETTLE_MS = 300;

interface Sample {
  readonly rate: number;
  readonly service: number;
  readonly database: number;
  readonly memory: number;
}

/** As many calls as 128 connections can make, over all targets in turn in each round. Nothing where there is no wrk. */
export async function saturate(bench: Bench, ground: Ground, targets: readonly Target[]): Promise<readonly Row[]> {
  const { wrk } = bench.tools;
  if (wrk === undefined) return [];
  const options = {
    tools: { ...bench.tools, wrk },
    cores: ground.cores.load,
    directory: bench.directory,
    connections: CONNECTIONS,
  };
  const books = await watchBooks(ground);
  let answered = 0;
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
  const faults = new Map<Target, string>();
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const target of targets) {
      const warmUp = await runWrk(target.load, {
        ...options,
        seconds: round === 1 ? FIRST_WARM_UP_SECONDS : WARM_UP_SECONDS,
        checks: true,
      });
      const sample = await measured(target, () =>
        runWrk(target.load, { ...options, seconds: bench.seconds, checks: false }),
      );
      const fault = faultOf(warmUp) ?? faultOf(sample.result) ?? differenceOf(warmUp, sample.result);
      if (fault !== undefined) faults.set(target, fault);
      samples.get(target)?.push(sample);
      if (target.isCharged) answered += warmUp.calls + sample.result.calls;
      bench.say(
        `round ${round}, ${target.name}: ${Math.round(sample.rate)} calls/s, service ${sample.service.toFixed(1)} us, ` +
          `database ${sample.database.toFixed(1)} us a call; others used ${sample.othersPercent.toFixed(0)} % of a core` +
          (fault === undefined ? '' : `; VOID: ${fault}`),
      );
    }
  }
  const charged = targets.filter(({ isCharged }) => isCharged).length;
  const cutOff = 2 * CONNECTIONS * bench.rounds * charged;
  const booksFault = charged === 0 ? undefined : await books.judge(bench, { answered, cutOff });
  return targets.map((target) => {
    const fault = faults.get(target) ?? (target.isCharged ? booksFault : undefined);
    return rowOf(target, samples.get(target) ?? [], fault);
  });
}

async function measured(
  target: Target,
  run: () => Promise<WrkResult>,
): Promise<Sample & { readonly result: WrkResult; readonly othersPercent: number }> {
  const read = () => ({
    service: cpuMicrosOf(target.pid),
    database: target.databasePid === undefined ? 0 : cpuMicrosOf(target.databasePid),
  });
  const othersPercent = watchOthers();
  const before = read();
  const result = await run();
  await sleep(SETTLE_MS);
  const after = read();
  return {
    result,
    rate: (result.calls / result.micros) * 1_000_000,
    service: (after.service - before.service) / result.calls,
    database: (after.database - before.database) / result.calls,
    memory: memoryOf(target.pid) / 2 ** 20,
    othersPercent: othersPercent(),
  };
}

function faultOf({ calls, bad, refused, broken, late }: WrkResult): string | undefined {
  if (calls === 0) return 'no call was answered';
  if (bad + refused + broken + late === 0) return undefined;
  return `of ${calls} answers ${bad} were wrong and ${refused} errors; ${broken} connections failed, ${late} timed out`;
}

/** Answers that nobody looked into are as long as those that were; bytes of those that were cut off are counted too. */
function differenceOf(checked: WrkResult, unchecked: WrkResult): string | undefined {
  const [one, other] = [checked.bytes / checked.calls, unchecked.bytes / unchecked.calls];
  const cutOffShare = CONNECTIONS / Math.min(checked.calls, unchecked.calls);
  if (Math.abs(one - other) <= one * (LENGTH_TOLERANCE + cutOffShare)) return undefined;
  return `answers had ${Math.round(other)} bytes, those that were looked into ${Math.round(one)}`;
}

function rowOf(target: Target, samples: readonly Sample[], fault: string | undefined): Row {
  const { databasePid } = target;
  return {
    target: target.name,
    figures: {
      'calls/s': figure(
        'calls/s',
        samples.map(({ rate }) => rate),
      ),
      service: figure(
        'us/call',
        samples.map(({ service }) => service),
      ),
      ...(databasePid === undefined
        ? {}
        : {
            database: figure(
              'us/call',
              samples.map(({ database }) => database),
            ),
          }),
      memory: figure(
        'MiB',
        samples.map(({ memory }) => memory),
      ),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}
