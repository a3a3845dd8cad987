import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../../tools/toolchain.ts';
import { slotNameOf } from '../../packages/service/src/cells/directory/queries.ts';
import {
  COPY,
  DATABASES,
  ETCD,
  etcdEnvironment,
  GATEWAYS,
  patroniEnvironment,
  writeHaproxyFile,
  writePatroniFile,
} from '../proofs/failover/files.ts';
import { deployEnvironment, deployText, deployYaml } from '../support/deploy-files.ts';
import { programAt } from '../support/nginx.ts';

/** The files of deploy/ha agree with each other, and `npm run proofs -- failover` runs what is shipped. */

interface Patroni {
  readonly restapi: { readonly listen: string };
  readonly etcd3: { readonly hosts: readonly string[] };
  readonly bootstrap: {
    readonly dcs: {
      readonly ttl: number;
      readonly loop_wait: number;
      readonly retry_timeout: number;
      readonly synchronous_mode: boolean;
      readonly synchronous_mode_strict: boolean;
      readonly failsafe_mode: boolean;
      readonly slots?: unknown;
      readonly postgresql: { readonly parameters: Readonly<Record<string, string | number>> };
    };
  };
  readonly postgresql: {
    readonly listen: string;
    readonly authentication: Readonly<Record<string, { readonly username: string }>>;
    readonly pg_hba: readonly string[];
  };
}

/** The least that Patroni takes. It raises a smaller one without saying so. */
const TTL_MIN = 20;
/** Settings that would confirm a commit before it is on two disks. */
const UNSAFE = ['fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names'];
const ADDRESSES = Object.values(DATABASES);
const patroni = deployYaml('ha/patroni.yml') as Patroni;
const { dcs } = patroni.bootstrap;
const etcd = deployEnvironment('ha/etcd.env');
const haproxy = deployText('ha/haproxy.cfg');
const program = programAt('haproxy');
const analyze = programAt('systemd-analyze');

test('OP-17 the high-availability files name the same machines and ports', () => {
  assert.deepEqual(
    patroni.etcd3.hosts,
    Object.values(ETCD).map((address) => `${address}:2379`),
  );
  assert.equal(
    etcd['ETCD_INITIAL_CLUSTER'],
    Object.entries(ETCD)
      .map(([name, address]) => `${name}=http://${address}:2380`)
      .join(','),
  );
  const servers = [...haproxy.matchAll(/^ +server (\w+) (\S+)$/gm)].map(([, name = '', address = '']) => [
    name,
    address,
  ]);
  assert.deepEqual(
    servers,
    Object.entries(DATABASES).map(([name, address]) => [name, `${address}:5432`]),
  );
  assert.equal(patroni.postgresql.listen, '0.0.0.0:5432');
  const [, port] = /check port (\d+)/.exec(haproxy) ?? [];
  assert.equal(patroni.restapi.listen, `0.0.0.0:${port}`);
});

test('OP-17 etcd runs on no database machine', () => {
  const databases = new Set<string>(ADDRESSES);
  assert.deepEqual(
    Object.values(ETCD).filter((address) => databases.has(address)),
    [],
  );
});

test('OP-17 nobody enters the databases without a password', () => {
  const { replication, rewind } = patroni.postgresql.authentication;
  const rules = patroni.postgresql.pg_hba.map((rule) => rule.split(/ +/));
  for (const rule of rules) assert.equal(rule.at(-1), 'scram-sha-256', rule.join(' '));
  for (const [user, database] of [
    [replication?.username, 'replication'],
    [rewind?.username, 'postgres'],
  ]) {
    const from = rules.filter((rule) => rule[0] === 'host' && rule[2] === user && rule[1] === database);
    assert.deepEqual(
      from.map((rule) => rule[3]),
      ADDRESSES.map((address) => `${address}/32`),
    );
  }
  // Patroni needs it to see how far its own server is. Without it, no standby is ever promoted.
  assert.ok(rules.some((rule) => rule.join(' ') === `local replication ${replication?.username} scram-sha-256`));
  const network = rules.filter((rule) => rule[0] === 'host' && rule[2] === 'purser').map((rule) => rule[3]);
  assert.deepEqual(network, ['10.0.0.0/24']);
  for (const address of Object.values(GATEWAYS)) assert.match(address, /^10\.0\.0\.\d+$/);
});

test('OP-17 two machines confirm each commit', () => {
  assert.deepEqual([dcs.synchronous_mode, dcs.synchronous_mode_strict, dcs.failsafe_mode], [true, true, true]);
  for (const name of UNSAFE) assert.ok(!(name in dcs.postgresql.parameters), name);
  assert.ok(dcs.ttl >= TTL_MIN);
  assert.ok(dcs.loop_wait + 2 * dcs.retry_timeout <= dcs.ttl);
});

test('OP-17 the failover run uses the shipped files', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-ha-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(
    readFileSync(writePatroniFile(folder, { isSynchronous: true, isCopied: false }), 'utf8'),
    deployText('ha/patroni.yml'),
  );
  const other = parse(
    readFileSync(writePatroniFile(folder, { isSynchronous: false, isCopied: false }), 'utf8'),
  ) as Patroni;
  const { synchronous_mode_strict: _strict, ...rest } = dcs;
  assert.deepEqual(other, {
    ...patroni,
    bootstrap: { ...patroni.bootstrap, dcs: { ...rest, synchronous_mode: false } },
  });
  const left = new Set(readFileSync(writeHaproxyFile(folder), 'utf8').split('\n'));
  assert.deepEqual(
    haproxy.split('\n').filter((line) => !left.has(line)),
    ['    user haproxy', '    group haproxy'],
  );
  const second = { name: 'db2', address: DATABASES.db2, directory: folder };
  const own = etcdEnvironment({ name: 'etcd2', address: ETCD.etcd2, directory: folder });
  assert.deepEqual(Object.keys(own).toSorted(), Object.keys(etcd).toSorted());
  assert.equal(own['ETCD_LISTEN_CLIENT_URLS'], `http://${ETCD.etcd2}:2379,http://127.0.0.1:2379`);
  assert.equal(own['ETCD_INITIAL_CLUSTER'], etcd['ETCD_INITIAL_CLUSTER']);
  const variables = patroniEnvironment(second, '/usr/lib/postgresql/15/bin');
  for (const name of Object.keys(deployEnvironment('ha/patroni.env'))) assert.ok(variables[name], name);
  assert.ok(!Object.values(variables).some((value) => value === 'change-me' || value.includes(DATABASES.db1)));
});

test('OP-17 the file’s part on copying cells is valid', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-ha-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const text = readFileSync(writePatroniFile(folder, { isSynchronous: true, isCopied: true }), 'utf8');
  const withSlots = text.replace('# slots:', 'slots:').replace('#   purser_c2:', '  purser_c2:');
  const { bootstrap, postgresql } = parse(withSlots) as Patroni;
  assert.deepEqual(bootstrap.dcs.slots, {
    [slotNameOf('c2')]: { type: 'logical', database: 'purser', plugin: 'pgoutput' },
  });
  assert.equal(bootstrap.dcs.postgresql.parameters['wal_level'], 'logical');
  assert.ok(postgresql.pg_hba.includes(`host purser copier ${COPY.address}/32 scram-sha-256`));
});

test('OP-17 HAProxy accepts its file', { skip: program === undefined && 'haproxy is missing: install it' }, () => {
  const { status, stderr } = spawnSync(program ?? '', ['-c', '-f', path.join(ROOT, 'deploy/ha/haproxy.cfg')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

test('OP-17 the unit for Patroni is valid', { skip: analyze === undefined && 'systemd-analyze is missing' }, (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-ha-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'patroni.service');
  writeFileSync(file, deployText('ha/patroni.service').replace('/opt/patroni/bin/patroni', '/bin/true')); // It is not installed here.
  const { status, stderr } = spawnSync(analyze ?? '', ['verify', file], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});
