import { after } from 'node:test';
import OpenAI from 'openai';
import { type SimulatorProcess, startSimulator } from '../../packages/service/src/app/process/simulator-process.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { startTestService } from './service.ts';

/** Aliases of the simulator's models: `echo` is `sim.echo-1`, which is `sim-echo` to the simulator. */
export const SIMULATED = ['echo', 'cached', 'no-usage', 'truncated', 'cut', 'garbage', 'throttled', 'error', 'rejects'];

/**
 * The whole service behind an unmodified client library, with the simulator in a separate process as its provider. `anna` is the only
 * user with money. There are further aliases if they are given. It ends with the file.
 */
export async function setSimulatedStage(aliases: Readonly<Record<string, string>> = {}) {
  const simulator = await startSimulator(createLog('silent'));
  const service = await startTestService(catalogueOf(simulator, aliases), { SIMULATOR_KEY: 'anything' });
  after(async () => {
    try {
      await service.close();
    } finally {
      await simulator.stop();
    }
  });
  const app = await service.addApp();
  await service.fund(app, 'anna', 100_000_000);
  return {
    service,
    app,
    /** A client as its documentation sets it up: our address, a key, the end user as a default header. */
    clientOf: (apiKey: string, user: string, options: { readonly maxRetries: number } = { maxRetries: 2 }) => {
      return new OpenAI({
        baseURL: `${service.url}/v1`,
        apiKey,
        defaultHeaders: { 'x-service-user': user },
        ...options,
      });
    },
    /** The amount that the user paid during the work. Throws if a hold or an open stream is left. */
    spentBy: async (user: string, work: () => Promise<unknown>) => {
      const { balance } = await service.wallet(app, user);
      await work();
      const wallet = await service.wallet(app, user);
      if (wallet.held !== 0 || wallet.openStreams !== 0) throw new Error('The call left a hold.');
      return balance - wallet.balance;
    },
  };
}

function catalogueOf(simulator: SimulatorProcess, aliases: Readonly<Record<string, string>>) {
  const common = {
    provider: 'simulator',
    price: {
      inputMicrosPerMillion: 1_000_000,
      cachedInputMicrosPerMillion: 250_000,
      outputMicrosPerMillion: 4_000_000,
    },
    marginBasisPoints: 1_000,
    contextTokens: 128_000,
    maxOutputTokens: 1_000,
    timeoutMs: 10_000,
  };
  const open = SIMULATED.map((name) => {
    return { id: `sim.${name}-1`, providerModel: `sim-${name}`, resale: 'open', imageTokensMax: 1_000, ...common };
  });
  return {
    providers: { simulator: { kind: 'openai-compatible', baseUrl: simulator.url, apiKeyEnv: 'SIMULATOR_KEY' } },
    models: [...open, { id: 'sim.secret-1', providerModel: 'sim-echo', resale: 'reserved', ...common }],
    aliases: { ...Object.fromEntries(SIMULATED.map((name) => [name, `sim.${name}-1`])), ...aliases },
  };
}
