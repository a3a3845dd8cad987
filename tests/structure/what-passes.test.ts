import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, findingsIn, placesOf, relevantFindingsIn } from './fixture.ts';

const MIGRATION = 'packages/service/migrations/0001_first.sql';
const body = (called: string): string => `returns void language sql as $$ select ${called}; $$;`;

function assertPasses(files: Files): void {
  assert.deepEqual(placesOf(relevantFindingsIn(files)), [], JSON.stringify(files));
}

test('tests and tools may hold SQL', () => {
  const text = "import { b } from '#db/b.ts'; const sql = `select 1 from ledger.hold`;";
  assertPasses({ 'kernel/a.test.ts': text, 'db/b.ts': '', 'tools/a.ts': text });
});

test('sentences that begin like SQL are not SQL', () => {
  const sentences = [
    'with 3 calls in flight',
    'update it',
    'create a key',
    'delete',
    'call 3 failed',
    'insert coin',
    'Select one.',
    'drop',
  ];
  for (const sentence of sentences) assertPasses({ 'http/a.ts': `const say = \`${sentence}\`;` });
});

test('SQL on its own tables passes', () => {
  assertPasses({ 'ledger/queries.ts': 'const sql = `select 1 from ledger.hold as usage where usage_id = $1`;' });
  assertPasses({ 'db/migrate.ts': 'const sql = `insert into db.migration values ($1)`;' });
});

test('dotted names outside SQL are not tables', () => {
  assertPasses({ 'gateway/a.ts': "import { b } from '#usage/b.ts'; const key = 'usage.total';", 'usage/b.ts': '' });
});

const made = (name: string, calls: string): string => `create or replace function ${name}() ${body(calls)}`;

test('a function of the ledger may mention usage', () => {
  const helpers = { 'db/now.sql': made('db.now', '1'), 'usage/record.sql': made('usage.record', '1') };
  assertPasses({ ...helpers, 'ledger/settlement/settle.sql': made('ledger.settle', 'usage.record()') });
  assertPasses({ ...helpers, 'sandbox/reset.sql': made('sandbox.reset', 'db.now()') });
});

test('a function’s file may grant rights on it', () => {
  const more = `revoke all on function db.f from public;\ngrant execute on function db.f to purser_live;
    create or replace trigger t before insert on db.t for each row execute function db.f();
    do $$ begin alter table db.t add check (true); end $$;`;
  assertPasses({ 'db/f.sql': `-- Why.\ncreate or replace function db.f() ${body('1')}\n${more}` });
});

test('a migration statement that names nothing new passes', () => {
  const sql = `-- create table loose ();
    /* create table loose (); */
    do $$ begin create role gateway; exception when others then null; end $$;
    comment on table ledger.hold is 'create table loose ()';
    create table if not exists ledger.hold (id text); create unique index on only ledger.hold (id);
    create index hold_id on ledger.hold (id); create type ledger.state as enum ('open');`;
  assertPasses({ [MIGRATION]: sql });
});

test('an import of any form uses an export', () => {
  const forms = [
    "import { a } from '#kernel/a.ts';",
    "import { a as b } from '#kernel/a.ts';",
    "import type { a } from '#kernel/a.ts';",
    "import x, { type a } from '#kernel/a.ts';",
    "import * as all from '#kernel/a.ts';",
    "const { a } = await import('#kernel/a.ts');",
    "type A = import('#kernel/a.ts').a;",
    "export { a } from '#kernel/a.ts';",
  ];
  for (const form of forms) {
    const findings = findingsIn({ 'kernel/a.ts': 'export const a = 1;', 'cli/main.ts': form });
    assert.deepEqual(
      findings.filter(({ file, rule }) => file.endsWith('a.ts') && rule.startsWith('unused')),
      [],
      form,
    );
  }
});

test('an export that only a test imports passes', () => {
  const files = {
    'kernel/a.ts': 'export const a = 1;',
    'cli/main.ts': "import '#kernel/a.ts';",
    'kernel/a.test.ts': "import { a } from '#kernel/a.ts';",
  };
  assert.deepEqual(
    placesOf(findingsIn(files)).filter((place) => place.startsWith('unused')),
    [],
  );
});

test('URLs, globs and relative paths hold no machine paths', () => {
  for (const path of ['https://host.example/root/a', './work/a', 'a/root/b', '**/home/app', '~/work', '/rooted/a']) {
    assertPasses({ 'docs/a.md': `See ${path}.` });
  }
});

test('valid links pass, and those in code do not count', () => {
  const links = '[a](docs/plan.md#part) [b](docs) [c](docs/) [d](#part) [e](https://x.example/y) [f](/docs/plan.md)';
  assertPasses({ 'README.md': `${links}\n\`[g](gone.md)\`\n\`\`\`\n[h](gone.md)\n\`\`\`\n`, 'docs/plan.md': '' });
});

test('a brand’s own file and tests may cast to it', () => {
  const declaration = "export type AppId = Brand<string, 'AppId'>; a as AppId;";
  assertPasses({ 'kernel/ids.ts': declaration, 'kernel/ids.test.ts': 'a as AppId' });
  assertPasses({ 'kernel/ids.ts': declaration, 'http/a.ts': 'type Row = { app_id: AppId }; b as Other;' });
});

test('a migration may take away if it says so', () => {
  const later = 'packages/service/migrations/9000_later.sql';
  const added =
    'alter table db.t add column a int;\nalter table db.t add column b int not null default 0, add column c text;\n' +
    'create index on db.t (a);\ncreate table db.own (a int);\nalter table db.own alter column a set not null;\n' +
    "create unique index on db.own (a);\nalter type db.kind add value 'x';\nalter table db.t drop constraint c;\n";
  assertPasses({ [later]: added });
  assertPasses({ [later]: 'drop table db.t;\nupdate db.compatibility set oldest_schema = 9000;' });
  assertPasses({ [MIGRATION]: 'drop table db.t;' });
});
