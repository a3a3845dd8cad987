// One client in a process of its own, which measures its processor time: `{ calls, atOnce }` -> `{ micros }`.
import { obey, startArgument } from '../support/worker.ts';
import { type ClientName, postBy } from './clients.ts';

export interface CallerArgument {
  readonly client: ClientName;
  readonly url: string;
  readonly isStream: boolean;
  readonly responseBytes: number;
  /** What `Post` must resolve to. */
  readonly expected: number;
}

export interface CallOrder {
  readonly calls: number;
  readonly atOnce: number;
}

export interface CallReport {
  /** The user and system time of all threads of the process, divided by the number of calls. */
  readonly microsPerCall: number;
}

const { client, url, isStream, responseBytes, expected } = startArgument() as CallerArgument;
const post = postBy(client, { url: new URL(url), isStream, responseBytes });
const MESSAGES = [{ role: 'user', content: 'Hello! What does a clerk do all day?' }];
const BODY = JSON.stringify({ model: 'bench', messages: MESSAGES, ...(isStream ? { stream: true } : {}) });

async function call(calls: number): Promise<void> {
  for (let made = 0; made < calls; made += 1) {
    const characters = await post(BODY);
    if (characters !== expected) throw new Error(`${client} read ${characters} characters instead of ${expected}.`);
  }
}

obey(async (order) => {
  const { calls, atOnce } = order as CallOrder;
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, () => call(Math.ceil(calls / atOnce))));
  const { user, system } = process.cpuUsage(before);
  return { microsPerCall: (user + system) / (Math.ceil(calls / atOnce) * atOnce) } satisfies CallReport;
});
