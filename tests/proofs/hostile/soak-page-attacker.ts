// Two hundred connections that ask for one page over and over, each as soon as it has an answer, until it is told to stop.
import { Agent, get } from 'node:http';
import { obey } from './actor.ts';
import { targetOf } from './soak-requests.ts';

const CONNECTIONS = 200;
/** Browsers ask by the public name, and get a page in place of the way to it. */
const HOST = 'purser.test';

const { url, cookie, paths } = targetOf();
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const state = { isOn: false };
let statuses: Record<string, number> = {};
let attacks: Promise<void>[] = [];

function ask(path: string): Promise<string> {
  const headers = {
    host: HOST,
    accept: 'text/html',
    'accept-encoding': 'gzip',
    cookie: path.startsWith('/console') ? cookie : '',
  };
  return new Promise((resolve) => {
    get(new URL(path, url), { agent, headers }, (response) => {
      response.resume().on('close', () => resolve(String(response.statusCode)));
    }).on('error', () => resolve('cut'));
  });
}

async function attack(path: string): Promise<void> {
  while (state.isOn) {
    const status = await ask(path);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

obey({
  ...Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [
      name,
      () => {
        state.isOn = true;
        statuses = {};
        attacks = Array.from({ length: CONNECTIONS }, () => attack(path));
        return 'started';
      },
    ]),
  ),
  stop: async () => {
    state.isOn = false;
    await Promise.all(attacks);
    const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return { connections: CONNECTIONS, requests, statuses };
  },
});
