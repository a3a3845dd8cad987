import { copiesSchema, listenerSchema } from '@purser/contract/webhooks.ts';
import { Agent, request } from 'undici';
import { CommandError } from '#cli/terminal/command-error.ts';
import type { ListenOptions } from '#cli/listen/listen-options.ts';

type Copies = ReturnType<typeof copiesSchema.parse>;

/**
 * The service's API for listeners. A `CommandError` is final. Every other fault is an outage that may pass, and the caller
 * tries again.
 */
export interface ListenerClient {
  /** Registers a listener and returns its id. */
  readonly listen: () => Promise<string>;
  /** Waits for the next events. Undefined when the listener has expired. */
  readonly look: (listenerId: string, after: string | undefined, signal: AbortSignal) => Promise<Copies | undefined>;
  readonly leave: (listenerId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

type Method = 'GET' | 'POST' | 'DELETE';

/** What `GET /healthz` answers. */
const HEALTHY = JSON.stringify({ status: 'ok' });
/** Why the service registers no listener, by status. */
const REFUSED: Readonly<Record<number, string>> = {
  403: 'Your role in this app does not allow listening. Ask one of its owners.',
  404: 'You have no app with this id, or the listen token is for another app.',
  409: 'This app already has five listeners. Stop one of them first.',
};
/** This is longer than the service holds a poll open. */
const ANSWER_MS_MAX = 30_000;
const LEAVE_MS_MAX = 5_000;

/** Creates a client with connections of its own. `close` ends them, also in the middle of a poll. */
export function createListenerClient({ appId, serviceUrl, wanted }: ListenOptions, token: string): ListenerClient {
  const agent = new Agent({ headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX, maxResponseSize: 1_048_576 });
  const listeners = `${serviceUrl}/apps/${encodeURIComponent(appId)}/webhook/listeners`;

  let isKnown = false;

  /** Anything may listen at an address. The token goes only to a server that answers like this service, also after an outage. */
  async function recognise(signal: AbortSignal): Promise<void> {
    const { statusCode, headers, body } = await request(`${serviceUrl}/healthz`, { dispatcher: agent, signal });
    const text = await body.text();
    if (statusCode >= 500) throw new Error(`The service answered ${statusCode}.`);
    isKnown = statusCode === 200 && text === HEALTHY && headers['x-correlation-id'] !== undefined;
    if (isKnown) return;
    throw new CommandError(
      `The server at ${serviceUrl} is not Purser, so the token was not sent. Name the service in --url or PURSER_URL.`,
    );
  }

  async function ask(method: Method, address: string, signal: AbortSignal, content?: unknown) {
    if (!isKnown) await recognise(signal);
    try {
      return await askKnown(method, address, signal, content);
    } catch (fault) {
      isKnown = false;
      throw fault;
    }
  }

  async function askKnown(method: Method, address: string, signal: AbortSignal, content?: unknown) {
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
    if (status === 401)
      throw new CommandError(
        'The token is not valid, or it has ended. Make a new one on the Webhooks page of the app.',
      );
    if (status >= 500 || status === 429) throw new Error(`The service answered ${status}.`);
    return { status, text };
  }

  return {
    listen: async () => {
      const { status, text } = await ask('POST', listeners, AbortSignal.timeout(ANSWER_MS_MAX), wanted);
      if (status === 201) return listenerSchema.parse(JSON.parse(text)).listenerId;
      const refused = REFUSED[status];
      if (refused !== undefined) throw new CommandError(refused);
      throw new CommandError(
        `The service answered ${status}. Check that --url is right and that the service has the same version.`,
      );
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
