import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACK, HOOK } from './server.ts';
import { StartFault } from './settings.ts';

/** What this app needs to act at Purser. */
export interface Standing {
  readonly apiKey: string;
  readonly webhookSecret: string | undefined;
  /** Ends the session and the listener that were begun for it. Never fails. */
  readonly stop: () => Promise<void>;
}

interface Demo {
  readonly appId: string;
  readonly liveKey: string;
  readonly ownerPassword: string;
}

interface App {
  readonly redirectUris: readonly string[];
}

interface Where {
  readonly purserUrl: string;
  readonly dataDirectory: string;
  /** The public address of this app. */
  readonly publicUrl: string;
  readonly port: number;
}

const OWNER = 'demo@purser.invalid';
const PURSER = fileURLToPath(new URL('../../packages/service/src/cli/main.ts', import.meta.url));
const SECRET = /Signing secret until this command ends: (whsec_\S+)/;
const ANSWER_MS_MAX = 10_000;

/**
 * Becomes the demo app of a development service: adds the addresses to come back to, and has the events forwarded by `purser listen`, which
 * needs no endpoint that the service could reach. Throws `StartFault`.
 */
export async function becomeDemoApp({ purserUrl, dataDirectory, publicUrl, port }: Where): Promise<Standing> {
  const { appId, liveKey, ownerPassword } = readDemo(dataDirectory);
  const { sessionToken: token } = (await control(purserUrl, {
    method: 'POST',
    path: '/sessions',
    body: { email: OWNER, password: ownerPassword },
  })) as { readonly sessionToken: string };
  const signOut = async (): Promise<void> => {
    const signedIn = { method: 'DELETE', path: '/sessions/current', token };
    await control(purserUrl, signedIn).catch(() => {}); // Where the service is gone, the session ends by itself.
  };
  try {
    const app = { path: `/apps/${appId}`, token };
    const { redirectUris } = (await control(purserUrl, { ...app, method: 'GET' })) as App;
    const returnUri = `${publicUrl}/`;
    const allowed = [...new Set([...redirectUris, publicUrl + BACK, returnUri])];
    await control(purserUrl, { ...app, method: 'PATCH', body: { redirectUris: allowed, returnUri } });
    const words = ['--app', appId, '--url', purserUrl, '--forward', `http://127.0.0.1:${port}${HOOK}`];
    const { webhookSecret, stop } = await listen(words, token);
    return { apiKey: liveKey, webhookSecret, stop: () => stop().then(signOut) };
  } catch (fault) {
    await signOut();
    throw fault;
  }
}

/** Makes `purser listen` forward the events until it is stopped, and says so if it ends before. */
async function listen(words: readonly string[], token: string): Promise<Pick<Standing, 'webhookSecret' | 'stop'>> {
  const listener = spawn(process.execPath, [PURSER, 'listen', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PURSER_SESSION_TOKEN: token },
  });
  const gone = once(listener, 'exit');
  const webhookSecret = await secretOf(listener);
  let isStopping = false;
  void gone.then(() => {
    // The page looks at the balance after each answer all the same, and `withTopUp` asks for it while it waits.
    if (!isStopping) console.error('`purser listen` has ended: no events come any more. Start the example again.');
  });
  return {
    webhookSecret,
    stop: async () => {
      isStopping = true;
      listener.kill('SIGTERM'); // Harmless where it has ended.
      await gone;
    },
  };
}

function readDemo(dataDirectory: string): Demo {
  try {
    return JSON.parse(readFileSync(path.join(dataDirectory, 'demo.json'), 'utf8')) as Demo;
  } catch {
    throw new StartFault(
      'There is no demo here yet. Start Purser with `npm start` first, and name its data directory in PURSER_DATA_DIR if it is not the usual one. Or set PURSER_URL and PURSER_API_KEY.',
    );
  }
}

interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
}

function absent(purserUrl: string, cause: unknown): StartFault {
  const how = 'Start it with `npm start`, or set PURSER_URL to its address.';
  return new StartFault(`No Purser answers at ${purserUrl}. ${how}`, { cause });
}

/** Throws `StartFault` if no service is ready. */
export async function findPurser(purserUrl: string): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const found = await fetch(`${purserUrl}/readyz`, { signal, redirect: 'error' }).catch((fault: unknown) => {
    throw absent(purserUrl, fault);
  });
  if (!found.ok) throw absent(purserUrl, found.status);
}

/** Asks the control plane, as an app's owner does by hand. */
async function control(purserUrl: string, { method, path: route, token, body }: ControlRequest): Promise<unknown> {
  const response = await fetch(purserUrl + route, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch((fault: unknown) => {
    throw absent(purserUrl, fault);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new StartFault(
    `${purserUrl} answered ${response.status} to ${method} ${route}: is it the service of this data directory?`,
  );
}

/** Waits until the listener says how it signs. */
function secretOf(listener: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    listener.stdout?.on('data', (part: Buffer) => {
      said = (said + part.toString('utf8')).slice(-1_000); // Later it tells of each event.
      const [, secret] = SECRET.exec(said) ?? [];
      if (secret !== undefined) resolve(secret);
    });
    listener.once('exit', () => reject(new StartFault('`purser listen` has ended: no events are forwarded.')));
  });
}
