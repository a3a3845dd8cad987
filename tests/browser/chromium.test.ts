import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openChromium } from '../support/chromium.ts';

test('a real browser finds only our hosts on this machine', async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(String(request.headers.host));
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end('<!doctype html><title>Here</title><h1>Here</h1>');
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const chromium = await openChromium(t, {
    'purser.localhost': `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  if (chromium === undefined) return;
  const { page } = await chromium.open();
  await page.goto('http://purser.localhost/');
  assert.equal(await page.title(), 'Here');
  assert.equal(await page.evaluate('isSecureContext'), true);
  await assert.rejects(page.goto('http://other.localhost/'), /ERR_NAME_NOT_RESOLVED/);
  assert.deepEqual([...new Set(asked)], ['purser.localhost']);
});
