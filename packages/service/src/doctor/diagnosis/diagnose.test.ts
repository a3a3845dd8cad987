import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { diagnose } from '#doctor/diagnosis/diagnose.ts';
import type { OwnFacts, StoredFacts } from '#doctor/diagnosis/facts.ts';
import { REMEDIES } from '#doctor/findings/remedies.ts';

const GIB = 1024 ** 3;
const own: OwnFacts = {
  isProduction: true,
  startFaults: [],
  refusal: undefined,
  publicUrl: 'https://pay.example.com',
  proxyHops: 1,
  sendsMail: true,
  payments: 'live',
  needsSecondPerson: true,
  hasTwoSecrets: false,
  ssoSaysFactor: true,
  unwiseSettings: [],
  isEmbedded: false,
  backups: undefined,
  disk: { freeBytes: 50 * GIB, totalBytes: 100 * GIB },
};
const stored: StoredFacts = {
  nowMs: 100 * 86_400_000,
  server: '17.2',
  schema: { is: 60, ours: 60, isFromBeforeRelease: false },
  serverSettings: [{ name: 'fsync', value: 'on' }],
  connections: { used: 20, most: 100 },
  skewMs: -20,
  secretFits: true,
  gateways: 2,
  books: { differences: 0, checkedSecondsAgo: 12 },
  lastFullCheckAtMs: 99 * 86_400_000,
  mail: { waitingLong: 0, failedOfDay: 0 },
  webhooks: { late: 0, disabled: 0 },
  missingKeys: [],
  operators: { withoutFactor: [], all: 2, movers: 2 },
  hosting: {
    version_number: 180_004,
    encoding: 'UTF8',
    has_other_collation: false,
    is_read_only: false,
    waits_for_standby: true,
    standby_names: 'ANY 1 (a, b)',
    standbys: 2,
    synchronous_standbys: 1,
    archives: true,
    archived_seconds: 30,
    archive_fails: false,
    waiting_parts: 1,
    waiting_seconds: 0.5,
  },
  prices: { unpriced: [], changedDaysAgo: 3 },
  restored: undefined,
};
const { hosting } = stored;
/** The owner of the database may not see what waits, and no part was kept since the server started. */
const UNSEEN = { waiting_parts: null, waiting_seconds: null };

function wrong(ofOwn: Partial<OwnFacts>, ofStored: Partial<StoredFacts> = {}) {
  return diagnose({ ...own, ...ofOwn }, { ...stored, ...ofStored })
    .filter(({ level }) => level !== 'good')
    .map(({ level, check }) => `${level} ${check}`);
}

test('OP-08 the doctor finds no fault in sound production', () => {
  const all = diagnose(own, stored);
  assert.deepEqual(
    all.filter(({ level }) => level !== 'good'),
    [],
  );
  assert.deepEqual(all.map(({ check }) => check).toSorted(), Object.keys(REMEDIES).toSorted());
});

for (const [finding, ofOwn, ofStored] of [
  ['bad disk', { disk: { freeBytes: 1, totalBytes: GIB } }, {}],
  ['bad disk', { disk: undefined }, {}],
  ['warn disk', { disk: { freeBytes: GIB / 2, totalBytes: GIB } }, {}],
  ['warn public-url', { publicUrl: 'https://localhost' }, {}],
  ['warn proxies', { proxyHops: 0 }, {}],
  ['bad mail', { sendsMail: false }, {}],
  ['bad mail', {}, { mail: { waitingLong: 1, failedOfDay: 0 } }],
  ['warn mail', {}, { mail: { waitingLong: 0, failedOfDay: 1 } }],
  ['warn payments', { payments: 'none' }, {}],
  ['warn payments', { payments: 'test key' }, {}],
  ['warn single-sign-on', { ssoSaysFactor: false }, {}],
  ['bad database-settings', {}, { serverSettings: [{ name: 'fsync', value: 'off' }] }],
  ['warn database-settings', {}, { serverSettings: [{ name: 'autovacuum', value: 'off' }] }],
  ['warn connections', {}, { connections: { used: 81, most: 100 } }],
  ['warn clock', {}, { skewMs: -1_000 }],
  ['bad clock', {}, { skewMs: 30_000 }],
  ['warn secret', { hasTwoSecrets: true }, {}],
  ['bad secret', {}, { secretFits: false }],
  ['bad gateways', {}, { gateways: 0 }],
  ['bad books', {}, { books: { differences: 1, checkedSecondsAgo: 1 } }],
  ['warn books', {}, { books: { differences: 0, checkedSecondsAgo: 301 } }],
  ['warn books', {}, { books: { differences: 0, checkedSecondsAgo: undefined } }],
  ['warn full-check', {}, { lastFullCheckAtMs: undefined }],
  ['warn full-check', {}, { lastFullCheckAtMs: 91 * 86_400_000 }],
  ['warn webhooks', {}, { webhooks: { late: 1, disabled: 0 } }],
  ['warn webhooks', {}, { webhooks: { late: 0, disabled: 1 } }],
  ['bad provider-keys', {}, { missingKeys: ['acme'] }],
  ['warn provider-keys', { isProduction: false }, { missingKeys: ['acme'] }],
  ['warn second-factors', {}, { operators: { withoutFactor: ['anna@example.test'], all: 2, movers: 2 } }],
  ['warn settings', { unwiseSettings: ['PURSER_LOG_LEVEL is silent.'] }, {}],
  ['bad server', {}, { hosting: { ...hosting, is_read_only: true } }],
  ['bad server', {}, { hosting: { ...hosting, version_number: 140_011 } }],
  ['bad server', {}, { hosting: { ...hosting, encoding: 'SQL_ASCII' } }],
  ['warn server', {}, { hosting: { ...hosting, has_other_collation: true } }],
  ['warn replication', {}, { hosting: { ...hosting, waits_for_standby: false } }],
  ['bad replication', {}, { hosting: { ...hosting, standbys: 0 } }],
  ['bad replication', {}, { hosting: { ...hosting, synchronous_standbys: 0 } }],
  ['warn replication', {}, { hosting: { ...hosting, synchronous_standbys: null } }],
  ['warn replication', {}, { hosting: { ...hosting, standby_names: '*' } }],
  ['bad backups', {}, { hosting: { ...hosting, archive_fails: true } }],
  ['bad backups', {}, { hosting: { ...hosting, waiting_parts: 4, waiting_seconds: 301 } }],
  ['warn backups', {}, { hosting: { ...hosting, waiting_seconds: 16 } }],
  ['warn backups', {}, { hosting: { ...hosting, ...UNSEEN, archived_seconds: 301 } }],
  ['warn backups', { isEmbedded: true }, { hosting: { ...hosting, standbys: 0, archives: false } }],
  ['warn backups', { isEmbedded: true }, { hosting: { ...hosting, archived_seconds: 901 } }],
  ['bad backups', { backups: 'unreadable' }, {}],
  ['warn backups', { backups: { lastAtMs: undefined, isOnDataDisk: false } }, {}],
  ['warn backups', { backups: { lastAtMs: 97 * 86_400_000 - 1, isOnDataDisk: false } }, {}],
  ['warn backups', { backups: { lastAtMs: 100 * 86_400_000, isOnDataDisk: true } }, {}],
  ['bad prices', {}, { prices: { unpriced: ['large'], changedDaysAgo: 1 } }],
  ['warn prices', {}, { prices: { unpriced: [], changedDaysAgo: 181 } }],
  ['warn connections', {}, { gateways: 4 }],
  ['bad restored', {}, { restored: { untilMs: 99 * 86_400_000 } }],
  ['warn second-factors', {}, { operators: { withoutFactor: [], all: 0, movers: 0 } }],
  ['warn second-person', {}, { operators: { withoutFactor: [], all: 2, movers: 1 } }],
] satisfies readonly (readonly [string, Partial<OwnFacts>, Partial<StoredFacts>])[]) {
  test(`OP-08 the doctor explains ${finding} and what to do: ${JSON.stringify({ ...ofOwn, ...ofStored })}`, () => {
    assert.deepEqual(wrong(ofOwn, ofStored), [finding]);
    const [first] = diagnose({ ...own, ...ofOwn }, { ...stored, ...ofStored });
    assert.ok(first !== undefined && first.why !== '' && first.remedy !== '', 'what is wrong comes first');
  });
}

for (const [isEmbedded, place] of [
  [false, 'backup.md#pgbackrest'],
  [true, 'backup.md'],
] as const) {
  test(`OP-08 the doctor leads to the backups of this database: ${place}`, () => {
    const unkept = { ...hosting, standbys: 0, waits_for_standby: false, archives: false };
    const [found] = diagnose({ ...own, isEmbedded }, { ...stored, hosting: unkept });
    assert.match(found?.remedy ?? '', new RegExp(`docs/guides/operator/${place} says`));
    const guide = readFileSync(new URL('../../../../../docs/guides/operator/backup.md', import.meta.url), 'utf8');
    assert.match(guide, /^### pgBackRest$/m);
  });
}

test('OP-08 a copy that waits to be accepted may keep its log to itself', () => {
  const held = { ...hosting, waiting_parts: 9, waiting_seconds: 9_000 };
  assert.deepEqual(wrong({}, { restored: { untilMs: undefined }, hosting: held }), ['bad restored']);
});

test('OP-08 the doctor does not judge an unreadable or unknown database', () => {
  assert.deepEqual(diagnose(own, undefined)[0]?.check, 'database');
  const [first, ...others] = diagnose(own, { schema: { is: 61, ours: 60, isFromBeforeRelease: false } });
  assert.equal(first?.check, 'schema');
  assert.ok(!others.some(({ check }) => check === 'books'));
});
