import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { createCourier } from '../../../packages/service/src/webhooks/delivery/deliver.ts';
import { createEndpointGuard } from '../../../packages/service/src/webhooks/delivery/endpoint-guard.ts';
import { isPublicAddress } from '../../../packages/service/src/webhooks/delivery/public-address.ts';
import { addressText, isSpecial, randomAddress } from './address-oracle.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

/** Counts connections to the addresses that hostile endpoints would like to reach. */
let connections = 0;
const inside = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
await new Promise<void>((resolve) => {
  inside.listen(0, '127.0.0.1', resolve);
});
after(() => inside.close());
const PORT = (inside.address() as AddressInfo).port;
const RANDOM_ADDRESSES = Number(process.env['PURSER_TEST_ADDRESSES'] ?? 100_000);

function delivery(endpointUrl: string) {
  const secret = 'whsec_test';
  return {
    eventId: 'evt_1',
    type: 'topup.completed',
    body: Buffer.from('{}'),
    attempt: 1,
    endpointUrl,
    secret,
  } as const;
}

async function deliver(
  endpointUrl: string,
  resolve: (name: string) => Promise<readonly string[]>,
  { allowPrivate = false, attemptMsMax = 60_000 } = {},
) {
  const guard = createEndpointGuard({ allowPrivate, resolve });
  const courier = createCourier({ guard, clock: systemClock, attemptMsMax });
  try {
    return await courier.deliver(delivery(endpointUrl), new AbortController().signal);
  } finally {
    await courier.close();
  }
}

const nowhere = async (): Promise<readonly string[]> => {
  throw new Error('no such name');
};

const withAddresses = (...found: string[]): Promise<string | undefined> =>
  createEndpointGuard({ allowPrivate: false, resolve: async () => found }).refuse('https://shop.example.com/hook');

const HOSTS = [
  '127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '0', '0.0.0.0',
  '127.127.127.127', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255',
  '169.254.169.254', '100.64.0.1', '100.127.255.254', '192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.1',
  '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.31.196.1',
  '192.52.193.1', '192.175.48.1', '%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1', '[::]', '[::1]',
  '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[2001::1]', '[2001:2::1]',
  '[2001:10::1]', '[2001:20::1]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[100::1]', '[fc00::1]', '[fd12:3456::1]',
  '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2620:4f:8000::1]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost',
  'metadata.google.internal', 'printer.local', 'router.lan', 'intranet', 'db', 'a.home.arpa', 'x.test', 'x.invalid',
]; // biome-ignore format: a list to read down

test(`WH-02 ${HOSTS.length} spellings of internal addresses are refused and never dialled`, async () => {
  const guard = createEndpointGuard({ allowPrivate: false, resolve: async () => ['127.0.0.1'] });
  for (const host of HOSTS) {
    const url = `https://${host}:${PORT}/hook`;
    assert.match((await guard.refuse(url)) ?? 'let through', /not public|must be an address/, url);
    if (URL.canParse(url)) {
      const outcome = await deliver(url, async () => ['127.0.0.1']);
      assert.equal(outcome?.error, 'address_blocked', url);
    }
  }
  assert.equal(connections, 0);
});

test('WH-02 only plain https addresses can be saved', async () => {
  const guard = createEndpointGuard({ allowPrivate: false, resolve: async () => ['93.184.215.14'] });
  for (const url of [
    'http://example.com/hook',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    '//example.com',
    'example.com',
    '',
    'https://',
    'https://me@example.com/',
    'https://me:secret@example.com/',
    'https://:secret@example.com/',
    'https://example.com/#part',
    'https://example.com/#',
  ]) {
    assert.notEqual(await guard.refuse(url), undefined, url);
  }
  for (const url of [
    'https://example.com',
    'https://example.com:8443/a?b=c',
    'https://93.184.215.14/',
    'https://[2606:4700::1]/',
  ]) {
    assert.equal(await guard.refuse(url), undefined, url);
  }
});

test('WH-02 names with any internal address cannot be saved', async () => {
  assert.equal(
    await createEndpointGuard({ allowPrivate: false, resolve: nowhere }).refuse('https://a.example.com/'),
    undefined,
  );
  assert.equal(await withAddresses('93.184.215.14', '2606:4700::1'), undefined);
  for (const bad of ['10.0.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0']) {
    assert.match((await withAddresses('93.184.215.14', bad)) ?? '', /not public/, bad);
  }
  const many = Array.from({ length: 17 }, (_, last) => `93.184.215.${last}`);
  assert.match((await withAddresses(...many)) ?? '', /not public/, 'too many addresses to be honest');
});

test('WH-02 every attempt checks the addresses actually dialled', async () => {
  for (const found of [
    ['127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    [],
  ]) {
    const outcome = await deliver(`https://shop.example.com:${PORT}/`, async () => found);
    assert.equal(outcome?.error, 'address_blocked', found.join());
  }
  let asked = 0;
  const rebinding = async () => ((asked += 1) === 1 ? ['93.184.215.14'] : ['127.0.0.1']);
  const guard = createEndpointGuard({ allowPrivate: false, resolve: rebinding });
  assert.equal(await guard.refuse(`https://shop.example.com:${PORT}/`), undefined);
  const courier = createCourier({ guard, clock: systemClock });
  const outcome = await courier.deliver(delivery(`https://shop.example.com:${PORT}/`), new AbortController().signal);
  await courier.close();
  assert.equal(outcome?.error, 'address_blocked');
  assert.equal(connections, 0);
});

test('WH-02 the connection’s own address is checked against lying lookups', async () => {
  const guard = createEndpointGuard({ allowPrivate: false, resolve: async () => ['93.184.215.14'] });
  const lying = {
    ...guard,
    lookup: ((_name, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])) as typeof guard.lookup,
  };
  const receiver = await startReceiver();
  const courier = createCourier({ guard: lying, clock: systemClock });
  const { port } = new URL(receiver.url);
  const outcome = await courier.deliver(delivery(`http://shop.example.com:${port}/`), new AbortController().signal);
  await courier.close();
  await receiver.close();
  assert.equal(outcome?.error, 'address_blocked');
  assert.deepEqual(receiver.received, [], 'nothing was written');
});

test('WH-11 no redirect is followed, to any address', async () => {
  const target = await startReceiver();
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of [`${target.url}/inside`, '/same', 'http://169.254.169.254/latest/meta-data']) {
      const receiver = await startReceiver(() => ({ status, headers: { location } }));
      const outcome = await deliver(`${receiver.url}/hook`, nowhere, { allowPrivate: true });
      assert.deepEqual([outcome?.status, outcome?.error, receiver.received.length], [status, undefined, 1]);
      await receiver.close();
    }
  }
  assert.deepEqual(target.received, []);
  await target.close();
});

test('WH-11 an attempt times out wherever the endpoint stalls', async () => {
  const silent = createServer(() => {}); // Accepts the connection and stays silent.
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const { port } = silent.address() as AddressInfo;
  for (const url of [`http://127.0.0.1:${port}/`, `https://127.0.0.1:${port}/`]) {
    assert.equal((await deliver(url, nowhere, { allowPrivate: true, attemptMsMax: 500 }))?.error, 'timeout', url);
  }
  const never = new Promise<readonly string[]>(() => {});
  assert.equal(
    (await deliver('https://slow.example.com/', () => never, { attemptMsMax: 500 }))?.error,
    'timeout',
    'the name',
  );
  silent.close();
});

test(`WH-02 ${RANDOM_ADDRESSES} random addresses match an independent reading of the registries`, () => {
  let special = 0;
  for (let count = 0; count < RANDOM_ADDRESSES; count += 1) {
    const address = randomAddress();
    const expected = isSpecial(address);
    if (expected) special += 1;
    assert.equal(isPublicAddress(addressText(address)), !expected, addressText(address));
  }
  console.log(`${RANDOM_ADDRESSES} addresses, ${special} of them special`);
});
