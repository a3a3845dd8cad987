import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from '../../tools/structure/inspect.ts';
import { readTree } from '../../tools/structure/read-tree.ts';
import { SERVICE } from '../../tools/structure/service-files.ts';
import { ROOT } from '../../tools/toolchain.ts';

const LATER = 'packages/service/migrations/9000_later.sql';
const body = (name: string, calls = '1'): string =>
  `create or replace function ${name}() returns void language sql as $$ select ${calls}; $$;`;
const machinePath = ['', 'root', 'purser'].join('/'); // In parts, because the rule would otherwise find it here.

/** A finding as `rule path:line`, and a text that produces this one finding in a file of this path. */
const BROKEN: readonly (readonly [finds: string, text: string])[] = [
  ['brand-casts http/answers/a.ts:2', '\nb as AppId'],
  ['brand-casts http/answers/b.ts:1', 'b as AppId[]'],

  ['sql-home ledger/hold/a.ts:1', 'const sql = `select 1`;'],
  ['sql-home ledger/hold/b.ts:2', 'const sql =\n  `\n  INSERT INTO ledger.hold VALUES ($1)`;'],
  ['sql-home ledger/hold/c.ts:1', "const sql = 'update ledger.hold set is_open = false';"],
  ['sql-home http/answers/c.ts:1', 'const sql = `with open as (select 1) delete from x`;'],
  ['sql-home http/answers/d.ts:1', 'const sql = `create table ${name} ()`;'],
  ['sql-home http/answers/own-sql.ts:1', 'const sql = `select 1`;'],

  ['sql-owner ledger/hold/planted-queries.ts:2', 'const sql = `select 1\n  from usage.gone`;'],
  ['sql-owner ledger/hold/queries.ts:1', 'const sql = `select ${a} from ${b}, usage.calls`;'],
  ['sql-owner gateway/call/a.ts:1', "const name = 'ledger.wallets';"],

  [`migration-names ${LATER}:2`, '\ncreate table app (id text);'],
  [`migration-names ${LATER}:1`, 'create index concurrently on app (id);'],
  [`migration-names ${LATER}:1`, 'alter table if exists app add x int;'],
  [`migration-names ${LATER}:1`, 'create schema novel;'],
  [`migration-names ${LATER}:1`, 'create view public.v as select 1;'],
  [
    'migration-names db/pool/f.sql:2',
    `${body('db.f')}\ncreate or replace trigger t before insert on app execute function db.f();`,
  ],
  [`migration-mentions ${LATER}:2`, 'create view sandbox.v as\nselect 1 from ledger.wallets;'],
  [
    'migration-mentions sandbox/holds/f.sql:4',
    body('sandbox.f', "'--'\n-- ledger.wallets in a comment\n/* ledger.wallets */\n, 1 from ledger.wallets"),
  ],
  ['migration-mentions db/holds/f.sql:2', body('money.f', '1\nfrom usage.calls\nlimit 1 -- Play money.\n')],

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
  ].map((sql) => [`migration-contracts ${LATER}:2`, `\n${sql}`] as const),

  [`function-files ${LATER}:1`, body('db.f')],
  [`function-files ${LATER}:1`, 'create trigger t before insert on db.t execute function db.f();'],
  ['function-files db/pool/f.sql:1', body('db.g')],
  ['function-files db/clock/f.sql:1', body('limits.f')],
  ['function-files db/pool/f.sql:1', 'create function db.f() returns int language sql as $$ select 1 $$;'],
  ['function-files db/pool/f.sql:1', 'create or replace function db.f() returns int language sql return 1;'],
  ['function-files db/pool/f.sql:1', '-- Nothing.'],
  ['function-files db/pool/f.sql:121', `${'-- Why.\n'.repeat(120)}${body('db.f')}\n`],
  ['function-files db/pool/f.sql:2', `${body('db.f')}\ncreate table db.t ();`],
  [
    'function-files db/pool/f.sql:2',
    `${body('db.f')}\ncreate trigger t before insert on db.t execute function db.f();`,
  ],

  ['rooms ledger/novel/a.ts:1', ''],
  ['rooms web/console/novel/a.ts:1', ''],
  ['rooms mail/novel/a.sql:1', body('mail.a')],
  ['rooms ledger/novel.ts:1', ''],

  ['machine-paths docs/a.md:2', `\nSee ${machinePath}.`],
  ['lock-files examples/package-lock.json:1', '"resolved": "https://registry.example/a.tgz"'],
];

/** Texts without a finding. */
const SOUND: readonly (readonly [path: string, text: string])[] = [
  ['kernel/a.test.ts', 'const sql = `select 1 from ledger.wallets`; a as AppId;'],
  ['tools/a.ts', 'const sql = `select 1 from ledger.wallets`; a as AppId;'],
  [
    'http/answers/e.ts',
    'say(`with 3 calls in flight`, `update it`, `create a key`, `delete`, `call 3 failed`, `insert coin`, `Select one.`, `drop`);',
  ],
  ['ledger/turn/queries.ts', 'const sql = `select 1 from ledger.wallets as usage where usage_id = $1`;'],
  ['db/pool/planted.ts', 'const sql = `insert into db.migration values ($1)`;'],
  ['gateway/call/b.ts', "import { b } from '#usage/b.ts'; const key = 'usage.total';"],
  ['http/answers/f.ts', 'type Row = { app_id: AppId }; b as Other; import { c as AppId } from "./c.ts";'],
  ['ledger/settlement/f.sql', body('ledger.f', '1 from usage.calls')],
  ['sandbox/holds/g.sql', body('sandbox.g', 'db.now()')],
  ['db/holds/g.sql', body('money.g', '1\nfrom usage.calls -- Real money.\nfrom money.wallets -- Play money.\n')],
  [
    'db/pool/h.sql',
    `-- Why.\n${body('db.h')}\nrevoke all on function db.h from public;\ngrant execute on function db.h to purser_live;
    create or replace trigger t before insert on db.t for each row execute function db.h();
    do $$ begin alter table db.t add check (true); end $$;`,
  ],
  [
    LATER,
    `-- create table loose ();
    /* create table loose (); */
    do $$ begin create role gateway; exception when others then null; end $$;
    comment on table ledger.hold is 'create table loose ()';
    create table if not exists ledger.hold (id text); create unique index on only ledger.hold (id);
    create index hold_id on ledger.hold (id); create type ledger.state as enum ('open');
    alter table db.t add column a int;
    alter table db.t add column b int not null default 0, add column c text;
    create index on db.t (a);
    create table db.own (a int);
    alter table db.own alter column a set not null;
    create unique index on db.own (a);
    alter type db.kind add value 'x';
    alter table db.t drop constraint c;`,
  ],
  [LATER, 'drop table db.t;\nupdate db.compatibility set oldest_schema = 9000;'],
  ['packages/service/migrations/0001_first.sql', 'drop table db.t;'],
  ['docs/b.md', 'https://host.example/root/a ./work/a a/root/b **/home/app ~/work /rooted/a'],
];

const pathOf = (name: string): string =>
  /^(?:packages|docs|tools|examples)\//.test(name) ? name : `${SERVICE}${name}`;

/** A small repository with nothing wrong in it. */
const SMALL = [
  ['kernel/values/ids.ts', "export type AppId = Brand<string, 'AppId'>; a as AppId;"],
  ['packages/service/migrations/0002_small.sql', 'create table ledger.wallets (); create table usage.calls ();'],
  ['db/clock/now.sql', body('db.now')],
] as const;

function findingsIn(...files: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const tree = new Map([...SMALL, ...files].map(([name, text]) => [pathOf(name), text]));
  for (const path of tree.keys())
    if (path.startsWith(SERVICE)) tree.set(path.replace(/(src\/\w+\/).*$/, '$1README.md'), '');
  return inspect(tree).map(({ rule, file, line }) => `${rule} ${file.replace(SERVICE, '')}:${line}`);
}

for (const [expected, text] of BROKEN) {
  test(`${expected} is found in ${JSON.stringify(text).slice(0, 80)}`, () => {
    const name = expected.replace(/^\S+ (.*):\d+$/, '$1');
    assert.deepEqual(findingsIn([name, text]), [expected]);
  });
}

test('what only looks wrong passes', () => {
  for (const file of SOUND) assert.deepEqual(findingsIn(file), [], file[0]);
});

test('a folder with more than fifteen files is found', () => {
  const files = Array.from({ length: 15 }, (_, index) => [`mail/a${index}.ts`, ''] as const);
  assert.deepEqual(findingsIn(...files), []);
  assert.deepEqual(findingsIn(...files, ['mail/more.sql', body('mail.more')]), ['room-sizes mail:1']);
});

const importer = (name: string) => [name, "import '#cells/a.ts';"] as const;

test('one more file that imports from the cells is found', () => {
  const files = Array.from({ length: 15 }, (_, index) => importer(`http/cells/apps/a${index}.ts`));
  assert.deepEqual(findingsIn(...files, importer('cells/moving/a.ts')), []);
  assert.deepEqual(findingsIn(...files, importer('web/figures/a.ts')), ['importers cells:1']);
});

test('a folder of the service without a README is found', () => {
  const findings = inspect(new Map([[`${SERVICE}limits/a.ts`, '']]));
  assert.deepEqual(
    findings.map(({ rule, file }) => `${rule} ${file}`),
    [`folder-readmes ${SERVICE}limits`],
  );
});

test('the repository keeps its rules, and a fault in it is found', () => {
  const planted = [
    ['http/answers/planted.ts', "const sql = 'ledger.wallets'; a as AppId;"],
    ['sandbox/holds/planted.sql', body('sandbox.planted', 'ledger.reserve()')],
  ] as const;
  const findings = inspect(
    new Map([...readTree(ROOT), ...planted.map(([name, text]) => [pathOf(name), text] as const)]),
  );
  assert.deepEqual(
    findings.map(
      ({ rule, file, line, message }) => `${rule} ${file}:${line} ${file.includes('planted') ? '' : message}`,
    ),
    [
      `sql-owner ${pathOf('http/answers/planted.ts')}:1 `,
      `brand-casts ${pathOf('http/answers/planted.ts')}:1 `,
      `migration-mentions ${pathOf('sandbox/holds/planted.sql')}:1 `,
    ],
  );
});
