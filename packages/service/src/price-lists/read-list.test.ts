import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { readList } from '#price-lists/read-list.ts';

async function served(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
}

test('MO-10 a price list comes from a file or local address', async (t) => {
  const address = await served(t, (_request, response) => void response.end('{"a":1}'));
  assert.equal(await readList(address), '{"a":1}');
  assert.match(await readList(import.meta.filename), /MO-10/);
});

test('MO-10 price lists over http, redirected or endless are refused', async (t) => {
  await assert.rejects(readList('http://prices.example.test/api.json'), /must be a file, or an https address/);
  await assert.rejects(readList('ftp://prices.example.test/api.json'), /must be a file, or an https address/);
  await assert.rejects(readList('https://me:secret@prices.example.test/'), /no user name or password/);
  await assert.rejects(readList('/no/such/file.json'), /There is no such file/);
  const moved = await served(t, (_request, response) => {
    response.writeHead(302, { location: 'https://elsewhere.example.test/' }).end();
  });
  await assert.rejects(readList(moved), /answered 302 and points to https:\/\/elsewhere\.example\.test\//);
  const endless = await served(t, (_request, response) => {
    const part = Buffer.alloc(1024 * 1024, ' ');
    Readable.from(Array.from({ length: 40 }, () => part)).pipe(response);
  });
  await assert.rejects(readList(endless), /larger than 32 MB/);
  const silent = await served(t, () => {});
  await assert.rejects(readList(silent, { downloadMsMax: 50 }), /within 0\.05 s/);
});
