import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isPurserError, type Purser, verifyWebhook } from '@purser/sdk';
import type { Accounts } from './accounts.ts';
import { answer } from './answer.ts';
import { logFault } from './fault.ts';
import { readBody, redirect, send, sendFile, sendText, setCommonHeaders } from './http.ts';
import { createLive, type Live } from './live.ts';
import { chatPage, faultPage, signInPage } from './page.ts';
import { beginWay, createSessions, endWay, type Session } from './sessions.ts';

interface ChatOptions {
  /** The address at which browsers find the app, without a slash at its end. */
  readonly publicUrl: string;
  readonly purser: Purser;
  readonly model: string;
  readonly webhookSecret: string | undefined;
  readonly accounts: Accounts;
}

interface Request {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

interface Visit extends Request {
  readonly session: Session;
}

type Routes<What> = Readonly<Record<string, (what: What) => Promise<void> | void>>;

const EVENTS_KEPT = 1_000;
const QUESTION_MAX = 4_000;
export const BACK = '/back';
export const HOOK = '/hook';

/** The whole app: its own sign-in, the chat, the way to the wallet and back, and the webhook. */
export function createChat(options: ChatOptions): RequestListener {
  const { publicUrl, accounts } = options;
  const { origin, host, protocol } = new URL(publicUrl);
  const sessions = createSessions(protocol === 'https:');
  const live = createLive();
  const hook = receiveEvents(options, live.tell);
  const ofUsers = routesOfUsers(options, live.follow);

  const ofAll: Routes<Request> = {
    'GET /chat.css': sendFile('chat.css', 'css'),
    'GET /chat.js': sendFile('chat.js', 'js'),
    'GET /favicon.ico': ({ response }) => void response.writeHead(204).end(),
    'POST /sign-in': async ({ request, response }) => {
      const form = new URLSearchParams(String((await readBody(request)) ?? ''));
      const account = await accounts.signIn(form.get('name') ?? '', form.get('password') ?? '');
      if (typeof account === 'string')
        return send(response, { status: 422, type: 'html', content: signInPage(account) });
      sessions.end(request.headers.cookie); // No cookie would lead to it any more.
      redirect(response, '/', { 'set-cookie': sessions.open(account) });
    },
    'POST /sign-out': ({ request, response }) => {
      redirect(response, '/', { 'set-cookie': sessions.end(request.headers.cookie) });
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setCommonHeaders(response);
    const url = URL.parse(request.url ?? '', origin);
    const asked = { request, response, query: url?.searchParams ?? new URLSearchParams() };
    const route = `${request.method} ${url?.pathname}`;
    if (route === `POST ${HOOK}`) return hook(asked); // From Purser, not from a browser: its signature tells.
    // By another name, a page of somebody else could be read as ours.
    if (request.headers.host !== host) return sendText(response, 421, `Open ${publicUrl}/`);
    if (request.method !== 'GET' && request.headers.origin !== origin) {
      return sendText(response, 403, 'This request did not come from a page of this app.');
    }
    const open = ofAll[route];
    if (open !== undefined) return open(asked);
    const session = sessions.of(request.headers.cookie);
    const own = ofUsers[route];
    if (own === undefined) return sendText(response, 404, 'There is nothing here.');
    if (session !== undefined) return own({ ...asked, session });
    if (route === 'GET /') return send(response, { type: 'html', content: signInPage() });
    if (route === `GET ${BACK}`) return sendStranger(response);
    sendText(response, 401, 'Sign in first.');
  }

  return (request, response) => {
    handle(request, response).catch((fault: unknown) => {
      logFault(`${request.method} failed`, fault);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'Something went wrong here. Try again.');
    });
  };
}

function routesOfUsers({ publicUrl, purser, model }: ChatOptions, follow: Live['follow']): Routes<Visit> {
  return {
    'GET /': ({ response, session }) => {
      const content = chatPage(session);
      session.notice = undefined;
      send(response, { type: 'html', content });
    },
    'GET /events': ({ response, session }) => follow(session, response),
    'GET /balance': async ({ response, session }) => {
      send(response, { type: 'json', content: JSON.stringify(await balanceOf(purser, session)) });
    },
    'POST /messages': (visit) => sendAnswer(visit, { purser, model }),
    'POST /connect': async ({ response, session }) => {
      const { connectUrl } = await purser.connect(session.account.userId, {
        redirectUri: publicUrl + BACK,
        state: beginWay(session),
        userLabel: session.account.name,
      });
      send(response, { type: 'json', content: JSON.stringify({ url: connectUrl }) });
    },
    [`GET ${BACK}`]: async ({ response, session, query }) => {
      if (!endWay(session, query.get('state') ?? '')) return sendStranger(response);
      // Anybody can write `status=connected` into an address: what is so, Purser says.
      const { isConnected } = await balanceOf(purser, session);
      session.notice = isConnected ? 'Your wallet is connected.' : 'You have not connected a wallet.';
      redirect(response, '/');
    },
  };
}

function sendStranger(response: ServerResponse): void {
  const text = 'Nothing has changed. Sign in and connect your wallet from the page of the chat.';
  send(response, { status: 400, type: 'html', content: faultPage('This return was not begun here', text) });
}

async function balanceOf(purser: Purser, { account }: Session) {
  try {
    const { availableMicros, currency, status } = await purser.balance(account.userId);
    return { isConnected: true, isBlocked: status === 'suspended', availableMicros, currency };
  } catch (fault) {
    if (!isPurserError(fault, 'PaymentRequiredError')) throw fault;
    return { isConnected: false };
  }
}

async function sendAnswer(
  { request, response, session }: Visit,
  { purser, model }: Pick<ChatOptions, 'purser' | 'model'>,
): Promise<void> {
  const question = questionIn(await readBody(request));
  if (question === undefined) return sendText(response, 400, `Write up to ${QUESTION_MAX} characters.`);
  if (session.isBusy) return sendText(response, 409, 'An answer is already being written, perhaps in another window.');
  session.isBusy = true;
  const left = new AbortController();
  response.on('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, session.over]);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const tell = (news: object): void => void response.write(`${JSON.stringify(news)}\n`);
  try {
    await answer({ session, question, purser, model, tell, signal });
  } finally {
    session.isBusy = false;
    response.end();
  }
}

function questionIn(body: Buffer | undefined): string | undefined {
  try {
    const { text } = JSON.parse(String(body)) as { readonly text?: unknown };
    return typeof text === 'string' && text.trim() !== '' && text.length <= QUESTION_MAX ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Takes each event that Purser has signed, once, and notifies the user's open pages. */
function receiveEvents({ webhookSecret: secret }: ChatOptions, tell: (userId: string, type: string) => void) {
  const taken = new Set<string>(); // Of this process: an app that acts on events keeps them in its database.
  return async ({ request, response }: Request): Promise<void> => {
    const body = await readBody(request);
    if (secret === undefined || body === undefined) return sendText(response, 404, 'There is nothing here.');
    const signature = String(request.headers['x-service-signature'] ?? '');
    try {
      const event = await verifyWebhook({ body, signature, secret });
      if (!taken.has(event.id)) tell(event.data.userId, event.type);
      taken.add(event.id);
      const [oldest] = taken;
      if (taken.size > EVENTS_KEPT && oldest !== undefined) taken.delete(oldest);
      response.writeHead(204).end();
    } catch (fault) {
      if (!isPurserError(fault, 'WebhookVerificationError')) throw fault;
      sendText(response, 400, fault.reason);
    }
  };
}
