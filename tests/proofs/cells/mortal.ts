import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';

/** A gateway that is killed, and comes back at the same address with the same data directory. */
export async function startMortal(options: Parameters<typeof startServiceProcess>[0]) {
  const PORT = String(await findPort());
  const start = (): Promise<ServiceProcess> =>
    startServiceProcess({ ...options, environment: { ...options.environment, PORT } });
  let running = await start();
  let saidBefore = '';
  return {
    url: running.url,
    /** Kills it, and resolves when it is ready again. It stays away for so long before it is started. */
    die: async (awayMs: number) => {
      await running.kill();
      saidBefore += running.said();
      await pause(awayMs);
      running = await start();
    },
    /** What all of its processes have written, with its log. */
    said: () => saidBefore + running.said(),
    stop: () => running.stop(),
  };
}

async function findPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
