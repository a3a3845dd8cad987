import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createCallerAddress } from '#http/requests/caller-address.ts';
import { createLog } from '#kernel/log.ts';

type Request = Pick<IncomingMessage, 'headers' | 'socket'>;

function requestFrom(remoteAddress: string, forwarded: string | undefined): Request {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { headers, socket: { remoteAddress } as Request['socket'] };
}

function addressOf(remoteAddress: string, forwarded: string | undefined, proxyHops: number): string {
  return createCallerAddress(proxyHops, createLog('silent'))(requestFrom(remoteAddress, forwarded));
}

test('CP-11 a caller’s address is what our proxies saw', () => {
  for (const [remote, forwarded, hops, address] of [
    ['192.0.2.1', undefined, 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
    ['10.0.0.1', '198.51.100.7', 1, '198.51.100.7'],
    ['10.0.0.1', '6.6.6.6, 198.51.100.7', 1, '198.51.100.7'],
    ['10.0.0.1', '6.6.6.6,198.51.100.7 , 10.0.0.2', 2, '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7', 2, '10.0.0.1'],
    ['10.0.0.1', 'unknown', 1, '10.0.0.1'],
    ['10.0.0.1', undefined, 1, '10.0.0.1'],
    ['::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
  ] as const) {
    assert.equal(addressOf(remote, forwarded, hops), address, `${remote} ${forwarded} ${hops}`);
  }
});

test('CP-11 all IPv6 addresses of a network count as one caller', () => {
  for (const [address, network] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['2001:db8:1::', '2001:db8:1:0'],
  ] as const) {
    assert.equal(addressOf(address, undefined, 0), network, address);
  }
});

test('CP-11 an unlisted proxy is logged once', () => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => void lines.push(line) });
  const told = createCallerAddress(1, log);
  told(requestFrom('10.0.0.1', '192.0.2.1'));
  const untold = createCallerAddress(0, log);
  untold(requestFrom('192.0.2.1', undefined));
  assert.equal(lines.length, 0);
  for (let times = 0; times < 3; times += 1) untold(requestFrom('10.0.0.1', '192.0.2.1'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /PURSER_PROXY_HOPS/);
});
