import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DatabaseAddress, readDatabaseUrl, textOf } from '#db/servers/hosts.ts';

function hostsOf(url: string): readonly string[] {
  return (readDatabaseUrl(url) as DatabaseAddress).hosts.map(textOf);
}

test('OP-11 a database URL names hosts as in libpq', () => {
  const several = readDatabaseUrl('postgres://u:p,w@db1:5433,db2,[::1]:6000/books?target_session_attrs=read-write');
  assert.deepEqual(several, {
    hosts: [
      { name: 'db1', port: 5433 },
      { name: 'db2', port: 5432 },
      { name: '::1', port: 6000 },
    ],
    database: 'books',
    url: 'postgres://u:p,w@db1:5433/books?target_session_attrs=read-write',
    follows: true,
  });
  assert.deepEqual(hostsOf('postgresql://u@[::1]:6000/d'), ['[::1]:6000']);
  assert.deepEqual(hostsOf('postgres://u:p@w,x@db1/d'), ['db1:5432'], 'the last @ ends the password');
  assert.equal((readDatabaseUrl('postgres://db1,db2/d') as DatabaseAddress).follows, true);
  assert.equal((readDatabaseUrl('postgres://db/d') as DatabaseAddress).follows, false);
  assert.equal((readDatabaseUrl('postgres://db/d?target_session_attrs=primary') as DatabaseAddress).follows, true);
  const socket = 'postgres://u:p@/d?host=/run/postgresql';
  assert.deepEqual(readDatabaseUrl(socket), {
    hosts: [{ name: '', port: 5432 }],
    database: 'd',
    url: socket,
    follows: false,
  });
});

test('OP-11 an unusable database URL is refused without showing the password', () => {
  for (const [url, words] of [
    ['mysql://u:hidden@db/d', /must look like postgres/],
    ['postgres://u:hidden@db:port/d', /must look like postgres/],
    ['postgres://u:hidden@db1,/d', /empty host/],
    ['postgres://u:hidden@db1,db1:5432/d', /same host and port twice/],
    ['postgres://u:hidden@db1,db2/d?host=/run', /host or port in its query/],
    ['postgres://u:hidden@/d?host=db1,db2', /before the path/],
    ['postgres://u:hidden@db1,db2/d?target_session_attrs=any', /target_session_attrs=read-write/],
    ['postgres://u:hidden@/d?host=/run&target_session_attrs=read-write', /must name a host/],
    [`postgres://u:hidden@${Array.from({ length: 17 }, (_, n) => `db${n}`).join(',')}/d`, /up to 16 hosts/],
  ] as const) {
    const fault = readDatabaseUrl(url);
    assert.ok(typeof fault === 'string', url);
    assert.match(fault, words);
    assert.doesNotMatch(fault, /hidden/);
  }
});
