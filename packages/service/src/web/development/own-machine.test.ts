import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwnMachineCheck } from '#web/development/own-machine.ts';

type Asked = Parameters<ReturnType<typeof createOwnMachineCheck>>[0];

/** Whether a request from this address gets the pages of development. */
function opens(isInContainer: boolean, remoteAddress: string, headers: Readonly<Record<string, string>> = {}): boolean {
  const all = { host: 'localhost:8787', ...headers };
  const request = { headers: all, raw: { headers: all, httpVersion: '1.1', socket: { remoteAddress } } };
  try {
    createOwnMachineCheck(isInContainer)(request as unknown as Asked);
    return true;
  } catch {
    return false;
  }
}

const PRIVATE = ['172.18.0.1', '::ffff:172.18.0.1', '10.0.2.100', '192.168.65.1', '169.254.1.2', 'fd00::1', 'fe80::1'];
const PUBLIC = ['172.32.0.1', '8.8.8.8', '::ffff:8.8.8.8', '2001:4860::1', '11.0.0.1', ''];

test('PG-06 in a container, private addresses may open development pages', () => {
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1', ...PRIVATE]) assert.ok(opens(true, address), address);
  for (const address of PUBLIC) assert.ok(!opens(true, address), address);
  for (const address of [...PRIVATE, ...PUBLIC]) assert.ok(!opens(false, address), address);
});

test('PG-06 in a container, a proxy or another name opens nothing', () => {
  assert.ok(!opens(true, '172.18.0.1', { 'x-forwarded-for': '172.18.0.1' }));
  assert.ok(!opens(true, '172.18.0.1', { host: 'purser.test' }));
});
