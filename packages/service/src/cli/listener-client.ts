import { copiesSchema, listenerSchema } from '@purser/contract/webhooks.ts';
import { Agent, request } from 'undici';
import { CommandError } from '#cli/command-error.ts';
import type { ListenOptions } from '#cli/listen-options.ts';

type Copies = ReturnType<typeof copiesSchema.parse>;

/** The service as a listener knows it. What it does not answer now, it may soon: those faults are no `CommandError`. */
export interface ListenerClient {
  /** Begins to listen, and gives the id by which it looks. */
  readonly listen: () => Promise<string>;
  /** The next events, once there are some; undefined where it listens no more. */
  readonly look: (listenerId: string, after: string | undefined, signal: AbortSignal) => Promise<Copies | undefined>;
  readonly leave: (listenerId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Longer than a look that waits. */
const ANSWER_MS_MAX = 30_000;
const LEAVE_MS_MAX = 5_000;

export function createListenerClient({ appId, serviceUrl, wanted }: ListenOptions, token: string): ListenerClient {
  const agent = new Agent({ headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX, maxResponseSize: 1_048_576 });
  const listeners = `${serviceUrl}/apps/${encodeURIComponent(appId)}/webhook/listeners`;

  async function ask(method: 'GET' | 'POST' | 'DELETE', address: string, signal: AbortSignal, content?: unknown) {
    const { statusCode: status, body } = await request(address, {
      dispatcher: agent,
      method,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    });
    const text = await body.text();
    if (status === 401) throw new CommandError('The session has ended, or the token is none: sign in again.');
    if (status >= 500 || status === 429) throw new Error(`The service answered ${status}.`);
    return { status, text };
  }

  return {
    listen: async () => {
      const { status, text } = await ask('POST', listeners, AbortSignal.timeout(ANSWER_MS_MAX), wanted);
      if (status === 201) return listenerSchema.parse(JSON.parse(text)).listenerId;
      if (status === 404) throw new CommandError('There is no such app among yours.');
      if (status === 409) throw new CommandError('Five listeners of this app are there already: end one of them.');
      throw new CommandError(`The service answered ${status}: is --url right, and is it of this version?`);
    },
    look: async (listenerId, after, signal) => {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const { status, text } = await ask('GET', `${listeners}/${listenerId}/events${query}`, signal);
      if (status === 404) return undefined;
      return copiesSchema.parse(JSON.parse(text));
    },
    leave: async (listenerId) => {
      await ask('DELETE', `${listeners}/${listenerId}`, AbortSignal.timeout(LEAVE_MS_MAX));
    },
    close: () => agent.destroy(),
  };
}
