import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, readConfig } from '#app/config.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-config-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function read(environment: Readonly<Record<string, string>>) {
  return readConfig({ PURSER_DATA_DIR: directory, ...environment });
}

test('a failpoint is read in development, and none is armed unless it is set', () => {
  assert.equal(read({}).failpoint, undefined);
  const { failpoint } = read({ PURSER_FAILPOINT: 'lane.settle-answered:3:stop' });
  assert.deepEqual(failpoint, { name: 'lane.settle-answered', hit: 3, act: 'stop' });
});

test('a failpoint with an unknown name or action is refused', () => {
  for (const value of ['nowhere:1:kill', 'chat.arrived:0:kill', 'chat.arrived:1:explode', 'chat.arrived']) {
    assert.throws(() => read({ PURSER_FAILPOINT: value }), /PURSER_FAILPOINT must look like/);
  }
});

test('production refuses a failpoint', () => {
  const production = { PURSER_ENV: 'production', PURSER_SECRET: 's'.repeat(32), PURSER_CATALOGUE: 'catalogue.json' };
  assert.equal(read(production).failpoint, undefined);
  assert.throws(() => read({ ...production, PURSER_FAILPOINT: 'chat.arrived:1:kill' }), ConfigError);
});

test('WA-10 the lease is 15 s unless a shorter one is set, and never longer', () => {
  assert.equal(read({}).leaseMs, 15_000);
  assert.equal(read({ PURSER_LEASE_SECONDS: '2' }).leaseMs, 2_000);
  for (const value of ['0', '1', '16', '2.5', 'long']) {
    assert.throws(
      () => read({ PURSER_LEASE_SECONDS: value }),
      /PURSER_LEASE_SECONDS must be a whole number from 2 to 15/,
    );
  }
});

test('WA-10 production refuses a lease that ends while a statement may still wait for the database', () => {
  const production = { PURSER_ENV: 'production', PURSER_SECRET: 's'.repeat(32), PURSER_CATALOGUE: 'catalogue.json' };
  assert.equal(read({ ...production, PURSER_LEASE_SECONDS: '10' }).leaseMs, 10_000);
  assert.throws(
    () => read({ ...production, PURSER_LEASE_SECONDS: '9' }),
    /PURSER_LEASE_SECONDS must be a whole number from 10 to 15/,
  );
});

test('CP-05 an operator is read from two settings, and both are required', () => {
  const operator = { PURSER_OPERATOR_EMAIL: 'a@example.test', PURSER_OPERATOR_PASSWORD: 'long enough' };
  assert.equal(read({}).operator, undefined);
  assert.deepEqual(read(operator).operator, { email: 'a@example.test', password: 'long enough' });
  for (const [change, says] of [
    [{ PURSER_OPERATOR_EMAIL: '' }, /PURSER_OPERATOR_EMAIL must be/],
    [{ PURSER_OPERATOR_EMAIL: 'nobody' }, /PURSER_OPERATOR_EMAIL must be/],
    [{ PURSER_OPERATOR_PASSWORD: '' }, /PURSER_OPERATOR_PASSWORD must have/],
    [{ PURSER_OPERATOR_PASSWORD: 'weak' }, /PURSER_OPERATOR_PASSWORD must have/],
    [{ PURSER_OPERATOR_PASSWORD: 'x'.repeat(257) }, /PURSER_OPERATOR_PASSWORD must have/],
  ] as const) {
    for (const environment of ['development', 'production']) {
      assert.throws(
        () => read({ ...operator, ...change, PURSER_ENV: environment }),
        (fault) => fault instanceof ConfigError && says.test(fault.message) && !/weak|xxx/.test(fault.message),
      );
    }
  }
});
