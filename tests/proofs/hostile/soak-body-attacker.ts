// Strangers who post a megabyte of names to a public route, over and over, until it is told to stop.
import { obey } from './actor.ts';
import { targetOf } from './soak-requests.ts';

const CONNECTIONS = 8;
const NAMES = 90_000;

const body = `{${Array.from({ length: NAMES }, (_, name) => `"n${name}":1`).join(',')}}`;
const statuses: Record<string, number> = {};
const state = { isOn: false };

async function attack(): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  while (state.isOn) {
    const status = await fetch(`${targetOf().url}/sessions`, { method: 'POST', headers, body }).then(
      (response) => String(response.status),
      () => 'cut',
    );
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

let attacks: Promise<void>[] = [];

obey({
  start: () => {
    state.isOn = true;
    attacks = Array.from({ length: CONNECTIONS }, attack);
    return 'started';
  },
  stop: async () => {
    state.isOn = false;
    await Promise.all(attacks);
    const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return { connections: CONNECTIONS, bodyBytes: body.length, requests, statuses };
  },
});
