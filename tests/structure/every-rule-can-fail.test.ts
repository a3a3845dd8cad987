import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULE_NAMES, type RuleName } from '../../tools/structure/rule-set.ts';
import { type Files, findingsIn, placesOf, relevantFindingsIn, SMALL } from './fixture.ts';

const MIGRATION = 'packages/service/migrations/0001_first.sql';
const LATER = 'packages/service/migrations/9000_later.sql';
const made = (name: string): string => `create or replace function ${name}() returns int language sql as $$`;
const machinePath = ['', 'root', 'purser'].join('/'); // In parts, because the rule would otherwise find it here.

/** A tree that breaks a rule, and the one finding that it must produce. */
const BROKEN: readonly (readonly [finds: `${RuleName} ${string}`, files: Files])[] = [
  ['readable kernel/odd.ts:1', { 'kernel/odd.ts': 'const text = `no end' }],
  ['readable kernel/odd.ts:1', { 'kernel/odd.ts': 'call(1;' }],

  [
    'brand-casts http/a.ts:2',
    { 'kernel/ids.ts': "export type AppId = Brand<string, 'AppId'>;", 'http/a.ts': '\nb as AppId' },
  ],

  ['sql-home ledger/hold.ts:1', { 'ledger/hold.ts': 'const sql = `select 1`;' }],
  ['sql-home ledger/hold.ts:2', { 'ledger/hold.ts': 'const sql =\n  `\n  INSERT INTO ledger.hold VALUES ($1)`;' }],
  ['sql-home ledger/hold.ts:1', { 'ledger/hold.ts': "const sql = 'update ledger.hold set is_open = false';" }],
  ['sql-home http/a.ts:1', { 'http/a.ts': 'const sql = `with open as (select 1) delete from x`;' }],
  ['sql-home http/a.ts:1', { 'http/a.ts': 'const sql = `create table ${name} ()`;' }],

  ['sql-owner ledger/queries.ts:2', { 'ledger/queries.ts': 'const sql = `select 1\n  from accounts.app`;' }],
  [
    'sql-owner gateway/a.ts:1',
    {
      'gateway/a.ts': "const name = 'ledger.place_hold';",
      'ledger/place_hold.sql': `${made('ledger.place_hold')} select 1; $$;`,
    },
  ],

  [`migration-names ${MIGRATION}:2`, { [MIGRATION]: '\ncreate table app (id text);' }],
  [`migration-names ${MIGRATION}:1`, { [MIGRATION]: 'create unique index concurrently on app (id);' }],
  [`migration-names ${MIGRATION}:1`, { [MIGRATION]: 'alter table if exists app add x int;' }],
  [
    'migration-names db/f.sql:2',
    { 'db/f.sql': `${made('db.f')} $$;\ncreate or replace trigger t before insert on app execute function db.g();` },
  ],
  [`migration-names ${MIGRATION}:1`, { [MIGRATION]: 'create schema novel;' }],
  [`migration-names ${MIGRATION}:1`, { [MIGRATION]: 'create view public.v as select 1;' }],
  [
    'migration-mentions sandbox/f.sql:4',
    {
      [MIGRATION]: 'create table ledger.hold ();',
      'sandbox/f.sql': `${made('sandbox.f')}\nbegin\n  -- ledger.hold in a comment\n  delete from ledger.hold;\nend;\n$$;`,
    },
  ],

  ...[
    'drop table db.t;',
    'alter table db.t drop column a;',
    'alter table db.t rename column a to b;',
    'alter table db.t alter column a set not null;',
    'alter table db.t alter column a type bigint;',
    'alter table db.t add column a int not null;',
    'alter table db.t add column a int default 1, add constraint c check (a > 0);',
    'create unique index on db.t (a);',
    'alter type db.t add attribute a int;',
    'revoke select on db.t from purser_live;',
  ].map((sql) => [`migration-contracts ${LATER}:2`, { [LATER]: `\n${sql}` }] as const),

  [`function-files ${MIGRATION}:1`, { [MIGRATION]: `${made('db.f')} select 1 $$;` }],
  [`function-files ${MIGRATION}:1`, { [MIGRATION]: 'create trigger t before insert on db.t execute function db.f();' }],
  ['function-files db/f.sql:1', { 'db/f.sql': `${made('db.g')} select 1 $$;` }],
  ['function-files db/room/f.sql:1', { 'db/room/f.sql': `${made('limits.f')} select 1 $$;` }],
  ['function-files db/f.sql:1', { 'db/f.sql': 'create function db.f() returns int language sql as $$ select 1 $$;' }],
  ['function-files db/f.sql:1', { 'db/f.sql': 'create or replace function db.f() returns int language sql return 1;' }],
  ['function-files db/f.sql:1', { 'db/f.sql': '-- Nothing.' }],
  ['function-files db/f.sql:2', { 'db/f.sql': `${made('db.f')} select 1 $$;\ncreate table db.t ();` }],
  [
    'function-files db/f.sql:2',
    { 'db/f.sql': `${made('db.f')} select 1 $$;\ncreate trigger t before insert on db.t execute function db.f();` },
  ],

  ['unused-files kernel/a.ts:1', { 'kernel/a.ts': '' }],
  ['unused-exports cli/main.ts:2', { 'cli/main.ts': '\nexport const lonely = 1;' }],

  ['folder-readmes kernel:1', { 'kernel/a.ts': '', without: 'README.md' }],

  ['machine-paths docs/a.md:2', { 'docs/a.md': `\nSee ${machinePath}.` }],
  ['lock-files package-lock.json:1', { 'package-lock.json': '"resolved": "https://registry.example/a.tgz"' }],
  ['dead-links README.md:1', { 'README.md': '[plan](docs/plan.md)' }],
  ['dead-links docs/a.md:1', { 'docs/a.md': '[plan](plan.md#part "The plan")', 'README.md': '' }],
];

const ALONE = new Set<string>(['unused-files', 'unused-exports']);
const STANDS_ELSEWHERE = ['minimums', 'exceptions'];

for (const [expected, files] of BROKEN) {
  const [rule = '', place = ''] = expected.split(' ');
  test(`${rule} fails at ${place} for ${JSON.stringify(files).slice(0, 100)}`, () => {
    const findings = ALONE.has(rule) ? findingsIn(files) : relevantFindingsIn(files);
    assert.deepEqual(placesOf(findings), [expected]);
  });
}

test('every rule has a tree that makes it fail', () => {
  const seen = new Set<string | undefined>([
    ...BROKEN.map(([expected]) => expected.split(' ')[0]),
    ...STANDS_ELSEWHERE,
  ]);
  assert.deepEqual(seen, new Set(RULE_NAMES));
});

test('a missing entry is one finding, not one for each file', () => {
  const rules = { ...SMALL, entries: ['cli/start.ts'] };
  assert.deepEqual(placesOf(findingsIn({ 'kernel/a.ts': '' }, rules)), ['unused-files cli/start.ts:1']);
});

test('too few files read is a finding', () => {
  const rules = { ...SMALL, minimums: { 'service files': 2, imports: 0, migrations: 1 } };
  const findings = findingsIn({}, rules);
  assert.deepEqual(
    findings.map(({ name }) => name),
    ['service files', 'migrations'],
  );
});

const dead = { rule: 'dead-links', file: 'docs/a.md', name: 'gone.md' } as const;

test('an exception removes only the finding that it names', () => {
  const reason = 'The name that a tool outside the repository looks for.';
  const files = { 'docs/a.md': '[a](gone.md)', 'docs/b.md': '[a](gone.md)' };
  const rules = { ...SMALL, exceptions: [{ ...dead, reason }] };
  assert.deepEqual(placesOf(relevantFindingsIn(files, rules)), ['dead-links docs/b.md:1']);
});

test('an exception without a use or a reason is a finding', () => {
  const rules = { ...SMALL, exceptions: [{ ...dead, reason: 'because' }] };
  assert.deepEqual(placesOf(relevantFindingsIn({ 'docs/a.md': '[a](gone.md)' }, rules)), [
    'exceptions tools/structure/rules.ts:1',
  ]);
  const needless = relevantFindingsIn({ 'kernel/a.ts': '' }, rules);
  assert.match(needless[0]?.message ?? '', /no longer needed/);
});
