import cluster from 'node:cluster';
import { preparedForWorker, serve, startGateway } from '#app/serve.ts';
import type { Settings } from '#cli/ground/ground.ts';
import { say } from '#cli/terminal/say.ts';
import { untilStopSignal } from '#cli/terminal/stop-signal.ts';

/** Serves until it is told to stop. A second signal, a second later, ends it at once. */
export async function runService({ config, log }: Settings): Promise<never> {
  const prepared = cluster.isWorker ? preparedForWorker(config) : undefined;
  const told = Promise.withResolvers<void>();
  const beforeCalls = (): Promise<void> => {
    told.resolve(untilStopSignal());
    return told.promise;
  };
  // A worker takes calls as soon as it listens, while others may still start. A stop then lets those calls end.
  if (prepared !== undefined) void beforeCalls();
  const running =
    prepared === undefined ? await serve({ config, log, say, beforeCalls }) : await startGateway(config, log, prepared);
  await told.promise;
  if (prepared === undefined) say('Stopping. Running calls may finish first.');
  await running.stop();
  process.exit(); // Otherwise a connection that a silent server never closes could keep the process alive.
}
