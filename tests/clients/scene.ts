import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RecordedRequest, UpstreamScript } from '../support/scripted-upstream.ts';
import type { Stage } from '../support/stage.ts';
import type { Ask, Message, RunningClient, Told } from './stock-client.ts';

/** One scenario of one client, with its own users, provider and counters, so that all can run at once. */
export interface Scene {
  /** Sets the provider's answers: one for each request in turn, and the last one for all that follow. */
  readonly provide: (...scripts: readonly UpstreamScript[]) => void;
  /** The requests that reached the provider. */
  readonly provided: () => readonly RecordedRequest[];
  /** The first message of a user in this scene; the provider recognises the scene by it. */
  readonly opening: Message & { readonly role: 'user' };
  readonly newUser: (amount: number) => Promise<string>;
  readonly ask: (user: string, ask: Partial<Ask>, key?: string) => Promise<Told>;
  /** The requests of the user that reached the service. */
  readonly arrived: (user: string) => readonly Arrival[];
  readonly stage: Stage;
}

interface Arrival {
  readonly atMs: number;
  /** When its answer was sent, if it was, and how long the client was told to wait. */
  answeredAtMs?: number;
  retryAfterSeconds?: number;
  /** Resets the connection it arrived on. Resolves when the service has seen it close. */
  readonly cut: () => Promise<void>;
}

/** Creates scenes on one stage. Called once, at the place where `setStage` was called. */
export function createScenes(stage: Stage): (client: RunningClient) => Scene {
  const { upstream, service, app } = stage;
  const scripts = new Map<string, readonly UpstreamScript[]>();
  const marked = (mark: string): readonly RecordedRequest[] => {
    return upstream.requests.filter(({ rawBody }) => rawBody.includes(mark));
  };
  upstream.script((request) => {
    const [mark = ''] = /<scene \d+>/.exec(request.rawBody.toString('utf8')) ?? [];
    const answers = scripts.get(mark) ?? [];
    const script = answers[Math.min(marked(mark).length, answers.length) - 1];
    if (script === undefined) throw new Error(`Nothing is provided for ${mark}.`);
    return script;
  });
  const arrivals = watchArrivals();
  let scenes = 0;
  return (client) => {
    const mark = `<scene ${(scenes += 1)}>`;
    const opening = { role: 'user' as const, text: `What is the weather in Oslo? ${mark}` };
    return {
      stage,
      opening,
      provide: (...answers) => void scripts.set(mark, answers),
      provided: () => marked(mark),
      newUser: (amount) => stage.newUser(amount),
      ask: (user, ask, key = app.liveKey) => {
        const address = { baseUrl: `${service.url}/v1`, key, user };
        return client.ask(address, { messages: [opening], stream: false, usage: true, ...ask });
      },
      arrived: (user) => arrivals.get(user) ?? [],
    };
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function cut(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.resetAndDestroy();
  await closed;
}

/** Requests by their `x-service-user` header, which requests to a provider do not have. Node reports each of them. */
function watchArrivals(): ReadonlyMap<string, readonly Arrival[]> {
  const byUser = new Map<string, Arrival[]>();
  const byRequest = new WeakMap<IncomingMessage, Arrival>();
  subscribe('http.server.request.start', (message) => {
    const { request } = message as Exchange;
    const user = request.headers['x-service-user'];
    if (typeof user !== 'string') return;
    const arrival = { atMs: performance.now(), cut: () => cut(request.socket) };
    byRequest.set(request, arrival);
    byUser.set(user, [...(byUser.get(user) ?? []), arrival]);
  });
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as Exchange;
    const arrival = byRequest.get(request);
    if (arrival === undefined) return;
    arrival.answeredAtMs = performance.now();
    arrival.retryAfterSeconds = Number(response.getHeader('retry-after') ?? 0);
  });
  return byUser;
}
