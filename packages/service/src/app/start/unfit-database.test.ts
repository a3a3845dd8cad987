import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#app/settings/config.ts';
import { lackOf } from '#app/start/unfit-database.ts';

const SAFE = { fsync: true, full_page_writes: true, synchronous_commit: 'on', standby_names: 'ANY 1 (a, b)' };
const ALONE = { ...SAFE, standby_names: '' };

test('OP-11 a server with commits less safe than set is refused', () => {
  for (const [durability, row, words] of [
    ['standby', SAFE, undefined],
    ['standby', { ...SAFE, synchronous_commit: 'remote_apply' }, undefined],
    ['standby', ALONE, /wait for no standby: synchronous_standby_names/],
    ['standby', { ...SAFE, synchronous_commit: 'local' }, /wait for no standby: synchronous_commit is local/],
    ['standby', { ...SAFE, standby_names: '*' }, /a subscription to any table/],
    ['standby', { ...SAFE, standby_names: 'ANY 1 (*)' }, /a subscription to any table/],
    ['disk', { ...SAFE, standby_names: '*' }, undefined],
    ['disk', ALONE, undefined],
    ['disk', { ...ALONE, synchronous_commit: 'local' }, undefined],
    ['disk', { ...ALONE, synchronous_commit: 'off' }, /synchronous_commit is off/],
    ['disk', { ...ALONE, fsync: false }, /fsync=off/],
    ['standby', { ...SAFE, full_page_writes: false }, /full_page_writes=off/],
    ['none', { ...ALONE, fsync: false, synchronous_commit: 'off' }, undefined],
  ] as const) {
    const lacking = lackOf(durability, row);
    if (words === undefined) assert.equal(lacking, undefined);
    else assert.match(lacking ?? '', words);
  }
});

test('OP-11 production asks for a standby unless set otherwise', () => {
  const production = {
    PURSER_ENV: 'production',
    PURSER_SECRET: 'qNcIcLmC1wMaTYDWZAkMHDPjs8Eb0ne2FI7wKjbQsQI=',
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_CATALOGUE: 'catalogue.json',
  };
  const DATABASE_URL = 'postgres://u@a,b/d';
  const read = (further: Readonly<Record<string, string>>) => readConfig({ ...production, ...further }).durability;
  assert.equal(read({ DATABASE_URL }), 'standby');
  assert.equal(read({ DATABASE_URL, PURSER_ENV: 'development' }), 'none');
  assert.equal(read({ DATABASE_URL, PURSER_DATABASE_DURABILITY: 'disk' }), 'disk');
  const both = () => read({ DATABASE_URL, PURSER_DATABASE_DURABILITY: 'paper' });
  assert.throws(both, /PURSER_DATABASE_DURABILITY must be one of standby, disk, none/);
  assert.throws(() => read({ PURSER_DATABASE_DURABILITY: 'disk' }), /is for a server of DATABASE_URL/);
});
