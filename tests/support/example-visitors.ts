import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { type Reply, replyOf } from './client.ts';
import type { Example } from './example.ts';
import { waitUntil } from './wait-until.ts';

interface Asking {
  readonly cookie?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A person who is signed in to the example. */
interface Visitor {
  readonly cookie: string;
  /** The name by which the service knows the visitor. */
  readonly user: string;
}

/** A page that receives events. */
interface OpenPage {
  readonly heard: () => string;
  /** True once the example has ended the page. */
  readonly isOver: () => boolean;
  readonly leave: () => void;
}

/** Browsers of the example, as far as HTTP goes. */
interface Visitors {
  /** Sends requests like a browser that has the example open: with its host name and the origin of forms. */
  readonly ask: (method: 'GET' | 'POST', route: string, asking?: Asking) => Promise<Reply>;
  readonly signIn: (name: string, cookie?: string) => Promise<Visitor>;
  readonly say: (cookie: string, text: string) => Promise<Reply>;
  /** Keeps the page of this user open. */
  readonly follow: (cookie: string) => Promise<OpenPage>;
}

/** `dataDirectory` is where the example keeps its accounts. */
export function visitorsOf(example: Example, dataDirectory: string): Visitors {
  const { host, origin } = new URL(example.url);
  const ask: Visitors['ask'] = (method, route, { cookie, body, headers = {} } = {}) => {
    const own = { host, ...(method === 'POST' ? { origin } : {}), ...(cookie === undefined ? {} : { cookie }) };
    return new Promise((resolve, reject) => {
      const asked = request(example.address + route, { method, headers: { ...own, ...headers } }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const heard = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
          resolve(replyOf({ status: answer.statusCode ?? 0, headers: heard }, Buffer.concat(parts).toString('utf8')));
        });
      });
      asked.once('error', reject);
      asked.end(body);
    });
  };
  return {
    ask,
    signIn: async (name, before) => {
      const body = String(new URLSearchParams({ name, password: 'correct horse' }));
      const reply = await ask('POST', '/sign-in', { body, ...(before === undefined ? {} : { cookie: before }) });
      assert.equal(reply.status, 303, reply.text);
      const [cookie = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
      return { cookie, user: userOf(dataDirectory, name) };
    },
    say: (cookie, text) => ask('POST', '/messages', { cookie, body: JSON.stringify({ text }) }),
    follow: async (cookie) => {
      let heard = '';
      let isOver = false;
      const asked = request(`${example.address}/events`, { headers: { host, cookie } }, (answer) => {
        answer.on('data', (part: Buffer) => void (heard += part.toString('utf8')));
        answer.on('end', () => void (isOver = true));
        answer.on('error', () => {});
      });
      asked.on('error', () => {});
      asked.end();
      await waitUntil('the page is open', () => heard.includes('open'));
      return { heard: () => heard, isOver: () => isOver, leave: () => asked.destroy() };
    },
  };
}

/** The name by which the service knows the account with this name. */
export function userOf(dataDirectory: string, name: string): string {
  const accounts = JSON.parse(readFileSync(accountsFile(dataDirectory), 'utf8')) as {
    readonly name: string;
    readonly userId: string;
  }[];
  return accounts.find((account) => account.name === name)?.userId ?? '';
}

/** Where the example keeps its accounts. */
export function accountsFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'example-chat.json');
}
