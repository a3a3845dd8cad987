import path from 'node:path';
import type { Measure } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { startService } from '../support/service.ts';
import type { Target } from '../support/target.ts';
import { allCores } from '../support/tools.ts';
import { liveTargetOf } from '../support/live-target.ts';

const PROCESSES = [1, 2, 4];
/**
 * Each process needs this time, because each compiles the code for itself. Four of them share the calls that one has
 * alone: after two seconds they still spent a third of their time on compiling.
 */
const WARM_UP_SECONDS = 6;

/** How the service gains by more processes behind its one port. Nothing is pinned: they shall find the cores there are. */
export const processes: Measure = {
  name: 'processes',
  title: 'Plain calls with several gateway processes, none bound to a core',
  isScale: true,
  run: async (bench) => {
    const ground = await bench.ground();
    await using started = new AsyncDisposableStack();
    const targets: Target[] = [];
    for (const workers of PROCESSES) {
      const service = await startService({
        tools: bench.tools,
        cores: allCores(),
        directory: path.join(bench.directory, `service-of-${workers}`),
        databaseUrl: ground.database.url,
        upstreamUrl: ground.upstream.ready,
        workers,
      });
      started.defer(service.stop);
      const name = workers === 1 ? '1 process' : `${workers} processes`;
      targets.push({ ...liveTargetOf({ ...ground, name, service }), firstWarmUpSeconds: WARM_UP_SECONDS * workers });
    }
    return await saturate(bench, ground, targets);
  },
};
