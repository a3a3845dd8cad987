// Starts the example: `npm run example`, beside a service that runs.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Purser } from '@purser/sdk';
import { openAccounts } from './accounts.ts';
import { becomeDemoApp, findPurser, type Standing } from './demo.ts';
import { createChat } from './server.ts';
import { readSettings, type Settings, StartFault } from './settings.ts';

try {
  await start(readSettings());
} catch (fault) {
  if (!(fault instanceof StartFault)) throw fault;
  console.error(fault.message);
  process.exitCode = 1;
}

async function start(settings: Settings): Promise<void> {
  const server = createServer();
  const port = await listen(server, settings.port);
  const { publicUrl = `http://localhost:${port}`, purserUrl, model, dataDirectory } = settings;
  let standing: Standing | undefined;
  try {
    await findPurser(purserUrl);
    standing = ownStanding(settings) ?? (await becomeDemoApp({ purserUrl, dataDirectory, publicUrl, port }));
    const { apiKey, webhookSecret } = standing;
    const purser = new Purser({ baseURL: purserUrl, apiKey });
    const accounts = openAccounts(dataDirectory);
    server.on('request', createChat({ publicUrl, purser, model, webhookSecret, accounts }));
  } catch (fault) {
    await standing?.stop();
    server.close();
    throw fault;
  }
  console.log(`The chat is at ${publicUrl}/ (stop with Ctrl-C).
Sign in with any name, ask something, and follow the link to the wallet. Mail with codes is at ${purserUrl}/dev/mailbox.`);
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await standing.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop());
}

/** The settings' own app, in place of the demo's. */
function ownStanding({ apiKey, webhookSecret }: Settings): Standing | undefined {
  return apiKey === undefined ? undefined : { apiKey, webhookSecret, stop: async () => {} };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new StartFault(`Port ${port} is already in use. Name another one in CHAT_PORT.`, { cause }));
    });
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
