import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPLETIONS, type Reply, send } from './client.ts';
import { newOperator, newOwner, type Person } from './control.ts';
import { type Allowed, assertPage, type Browser, openBrowser } from './page.ts';
import { assertRefusal, type Expected } from './refusal.ts';
import type { NextScript } from './scripted-upstream.ts';
import type { Stage } from './stage.ts';

/** A key with its user, the session of an account, or a browser. */
type Caller = { readonly key: string; readonly user?: string } | Person | Browser;

/** Those whom every table knows by name. A key speaks for the user `u`, and a visitor is a browser without a session. */
type Known = 'nobody' | 'visitor' | 'key' | 'test key' | 'owner' | 'operator';

type Sought = string | RegExp;

/** What an answer must be. */
export interface Answer extends Partial<Expected> {
  /** The status of an answer that is no refusal, 200 unless given. A refusal is named by `code`, and is checked whole. */
  readonly status?: number;
  /** The answer is a page with this heading, and may do so much beyond being read. */
  readonly page?: string;
  readonly may?: Allowed;
  /** Headers of the answer. One that is null must not be there. */
  readonly has?: Readonly<Record<string, Sought | null>>;
  /** Fields of the answer's JSON. There may be others. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly contains?: readonly Sought[];
  readonly lacks?: readonly Sought[];
}

/** A request, and what its answer must be. */
export interface Step extends Answer {
  /** Who sends it. Several send it one after the other, and each must get this answer. */
  readonly as?: Known | Caller | readonly (Known | Caller)[];
  /** Method and path, such as `GET /balance`. */
  readonly request?: string;
  /** The body: an object as JSON, a string or bytes as they are. An object adds its fields to those of the table's body. */
  readonly body?: unknown;
  /** Fields of a chat completion, in place of a request and its body. */
  readonly chat?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What a browser writes into the form on the page that it shows. It follows redirects, unless the status of one is expected. */
  readonly form?: Readonly<Record<string, string>>;
  /** What the provider answers from now on. */
  readonly upstream?: NextScript;
  /** How often the provider was asked. */
  readonly asked?: number;
  /** What else must be true. */
  readonly and?: (reply: Reply) => unknown;
}

/** One test. It has a name of its own unless the whole table has one. */
export interface Row extends Step {
  readonly name?: string;
  /** Its steps, if it takes more than one. The row's own fields hold for each. */
  readonly steps?: readonly Step[];
}

const SHOWN_MAX = 600;
/** So much of what is sent is in the name of a test. */
const SENT_MAX = 70;

/**
 * This is called once by a test file. It returns a function that makes a test of each row of a table. What is `common` holds for
 * all rows, unless one says otherwise.
 */
export function scenariosOf(stage: Stage): (common: Row, rows: readonly Row[]) => void {
  const callers = callersOf(stage);
  return (common, rows) => {
    for (const row of rows) {
      test(nameOf(common, row), async () => {
        const { name: _, steps = [{}], ...shared } = over(common, row);
        for (const step of steps) await take(stage, callers, over(shared, step));
      });
    }
  };
}

/** What a row says, over what holds for all. The fields of its body are added to those of the table's. */
function over<Whole extends Step>(common: Whole, row: Step): Whole {
  const [below, above] = [common.body, row.body];
  const isAdded = isPlain(below) && isPlain(above);
  return { ...common, ...row, ...(isAdded && { body: { ...below, ...above } }) };
}

function isPlain(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof Uint8Array);
}

/** The name of the table, then of its row: what it says of itself, or else the beginning of what it sends. */
export function nameOf(common: Row, row: Row): string {
  const { request, headers, form, chat, body } = row;
  const sent = [request, headers, form, chat, body].filter((part) => part !== undefined).map(shown);
  const own = row.name ?? shortened(sent.join(' '), SENT_MAX);
  return [common.name, own].filter((part) => part !== undefined && part !== '').join(': ');
}

/** Finds callers by name. An account is made when the first row needs it. */
function callersOf({ service, app }: Stage): (name: Known | Caller) => Promise<Caller | undefined> {
  const makers: Readonly<Record<Known, () => Promise<Caller | undefined> | Caller | undefined>> = {
    nobody: () => undefined,
    visitor: () => openBrowser(service.url),
    key: () => ({ key: app.liveKey, user: 'u' }),
    'test key': () => ({ key: app.testKey, user: 'u' }),
    owner: () => newOwner(service),
    operator: () => newOperator(service),
  };
  const made = new Map<string, Promise<Caller | undefined>>();
  return async (name) => {
    if (typeof name !== 'string') return name;
    const caller = made.get(name) ?? Promise.resolve(makers[name]());
    made.set(name, caller);
    return caller;
  };
}

async function take(stage: Stage, callers: ReturnType<typeof callersOf>, step: Step): Promise<void> {
  const { as = 'nobody', upstream } = step;
  for (const who of Array.isArray(as) ? (as as readonly (Known | Caller)[]) : [as as Known | Caller]) {
    if (upstream !== undefined) stage.upstream.script(upstream);
    const before = stage.upstream.requests.length;
    const reply = await ask(stage.service.url, await callers(who), step);
    try {
      assertAnswer(reply, step);
      if (step.asked !== undefined) assert.equal(stage.upstream.requests.length - before, step.asked, 'asked');
      await step.and?.(reply);
    } catch (fault) {
      const sender = typeof who === 'string' ? who : 'somebody';
      const sent = [requestOf(step), step.headers, step.form, bodyOf(step)].filter((part) => part !== undefined);
      throw new Error(`${sender}: ${sent.map(shown).join(' ')}\nanswer: ${reply.status} ${shown(reply.text)}`, {
        cause: fault,
      });
    }
  }
}

const requestOf = ({ request, chat }: Step): string =>
  request ?? (chat === undefined ? assert.fail('A row names a request.') : `POST ${COMPLETIONS}`);

const bodyOf = ({ body, chat }: Step): unknown =>
  chat === undefined ? body : { model: 'large', messages: [{ role: 'user', content: 'Hello' }], ...chat };

async function ask(url: string, caller: Caller | undefined, step: Step): Promise<Reply> {
  const [method = '', ...rest] = requestOf(step).split(' ');
  const path = rest.join(' ');
  const { headers = {} } = step;
  if (caller !== undefined && 'cookies' in caller) return browse(caller, path, step);
  const key = caller === undefined ? undefined : 'token' in caller ? caller.token : caller.key;
  const user = caller !== undefined && 'user' in caller ? caller.user : undefined;
  return send(path, {
    url,
    method,
    headers,
    body: bodyOf(step),
    ...(key === undefined ? {} : { key }),
    ...(user === undefined ? {} : { user }),
  });
}

function browse(browser: Browser, path: string, { form, headers, status }: Step): Promise<Reply> {
  const isFollowed = status !== 303 && headers === undefined;
  if (form !== undefined && isFollowed) return browser.submit(path, form);
  if (isFollowed) return browser.open(path);
  const written = form === undefined ? {} : { form: { ...browser.fieldsOf(path), ...form } };
  return browser.ask(path, { ...written, headers: headers ?? {} });
}

/** Asserts everything that is named, of a refusal also its envelope and headers, of a page what all pages must be. */
export function assertAnswer(reply: Reply, answer: Answer): void {
  const { status = 200, code, page, may, has = {}, answers = {}, contains = [], lacks = [] } = answer;
  if (code !== undefined) assertRefusal(reply, { ...answer, code });
  else if (page !== undefined) assertPage(reply, status, page, may);
  else {
    assert.ok(status < 400, 'A row names a refusal by its code.');
    assert.equal(reply.status, status);
  }
  for (const [name, value] of Object.entries(has)) {
    const sent = reply.headers.get(name);
    if (value instanceof RegExp) assert.match(sent ?? '', value, name);
    else assert.equal(sent, value, name);
  }
  for (const [field, value] of Object.entries(answers)) assert.deepEqual(reply.body[field], value, field);
  for (const sought of contains) assert.ok(isIn(reply, sought), `The answer contains ${sought}.`);
  for (const sought of lacks) assert.ok(!isIn(reply, sought), `The answer does not contain ${sought}.`);
}

/** Whether it is in the message of a refusal, or in the answer as it came. */
function isIn({ text, error }: Reply, sought: Sought): boolean {
  const said = typeof error['message'] === 'string' ? `${error['message']}\n${text}` : text;
  return typeof sought === 'string' ? said.includes(sought) : sought.test(said);
}

function shown(part: unknown): string {
  const said = typeof part === 'string' || part instanceof Uint8Array ? String(part) : JSON.stringify(part);
  return shortened(said.replaceAll(/\p{Cc}/gu, '·'), SHOWN_MAX);
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
