import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createCookies } from '#web/frame/cookies.ts';
import { pageHandlers } from '#web/serving/page-handlers.ts';
import { openExchange } from '#http/answers/respond.ts';
import { createLog } from '#kernel/log.ts';

const LINE = `${'x'.repeat(65_535)}\n`;

/** A page that sends a file in pieces, over real HTTP. */
async function serve(context: TestContext, pieces: () => AsyncGenerator<string>, stallMsMax?: number) {
  const told: string[] = [];
  const options = {
    cookies: createCookies(false),
    keys: [Buffer.alloc(32)] as const,
    isOwnOrigin: () => true,
    publicUrl: 'http://127.0.0.1',
    addressOf: () => '127.0.0.1',
    pace: { ofAddress: async () => undefined, ofHolder: async () => undefined, ofForm: () => undefined },
    log: createLog('warn', { write: (line) => void told.push(line) }),
    ...(stallMsMax === undefined ? {} : { stallMsMax }),
  };
  const audience = {
    cookie: 'person',
    find: async () => undefined,
    nameOf: () => '',
    home: { path: '/', name: 'Home' },
    frame: { operatorName: 'Purser', supportEmail: undefined },
  } as const;
  const { GET } = pageHandlers(options, audience, '/file', {
    GET: () => ({ status: 200, file: { headers: { 'content-type': 'text/csv' }, text: pieces() } }),
  });
  const handled: Promise<void>[] = [];
  const server = createServer((request, response) => {
    const answered = GET?.(openExchange(request, response), '');
    if (answered !== undefined) handled.push(answered);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, told, handled: async () => Promise.all(handled) };
}

test('PG-07 a page under a local name moves to the public one', async (context) => {
  const { url } = await serve(context, async function* () {
    yield LINE;
  });
  const [moved] = (await once(get(`${url}file?a=b`, { headers: { host: 'localhost' } }), 'response')) as [
    IncomingMessage,
  ];
  moved.resume();
  assert.equal(moved.statusCode, 303);
  assert.equal(moved.headers.location, 'http://127.0.0.1/file?a=b');
});

test('CP-12 a file in pieces is sent whole, at the reader’s pace', async (context) => {
  let made = 0;
  const { url, told } = await serve(context, async function* () {
    for (; made < 1_000; made += 1) yield LINE;
  });
  const response = await fetch(url);
  assert.equal(response.headers.get('content-type'), 'text/csv');
  assert.ok(made < 900, `${made} pieces were made for a reader that has read nothing`);
  assert.equal((await response.text()).length, 1_000 * LINE.length);
  assert.deepEqual(told, []);
});

test('CP-12 a reader who leaves ends the file without a fault', async (context) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { url, told, handled } = await serve(context, async function* () {
    try {
      for (;;) yield LINE;
    } finally {
      end();
    }
  });
  const leave = new AbortController();
  const response = await fetch(url, { signal: leave.signal });
  assert.equal(response.status, 200);
  leave.abort();
  await ended;
  await handled();
  assert.deepEqual(told, []);
});

test('CP-12 a reader who stops reading is given up', async (context) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { url, told, handled } = await serve(
    context,
    async function* () {
      try {
        for (;;) yield LINE;
      } finally {
        end();
      }
    },
    200,
  );
  const response = await fetch(url);
  await ended;
  await handled();
  assert.deepEqual(told, []);
  await assert.rejects(response.text());
});

test('ER-03 a fault halfway cuts the file off and is logged', async (context) => {
  const { url, told, handled } = await serve(context, async function* () {
    yield LINE;
    throw new Error('the database is away');
  });
  await assert.rejects(fetch(url).then((response) => response.text()));
  await handled();
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /a page failed/);
});

test('CP-12 nothing is read for a HEAD request', async (context) => {
  let isBegun = false;
  const { url } = await serve(context, async function* () {
    isBegun = true;
    yield LINE;
  });
  const response = await fetch(url, { method: 'HEAD' });
  assert.deepEqual([response.status, await response.text(), isBegun], [200, '', false]);
});
