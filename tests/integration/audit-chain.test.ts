import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectHead, selectLinks } from '../../packages/service/src/audit/chain-queries.ts';
import { type ChainedEntry, linkHash } from '../../packages/service/src/audit/chain.ts';
import { checkChain } from '../../packages/service/src/audit/check-chain.ts';
import { resealHead, sealEntries } from '../../packages/service/src/audit/sealer.ts';
import { inTransaction } from '../../packages/service/src/db/pool/pool.ts';
import { addAct, HEAD_KEY, newTrail, sealAll } from '../support/audit-trail.ts';
import { sql } from '../support/sql.ts';

/** The chain of the audit trail, on the functions of the gateway. */

const TABLES = ['audit.entries', 'audit.links', 'audit.head'];

/** Makes six lines. The number 4 is that of an act that was rolled back. */
async function newSixLines() {
  const { owner, pools } = await newTrail();
  const [live] = pools;
  for (const subject of ['one', 'two', 'three']) await addAct(live, subject);
  await assert.rejects(
    inTransaction(live, async (tx) => {
      await addAct(tx, 'never');
      throw new Error('undone');
    }),
    /undone/,
  );
  for (const subject of ['five', 'six', 'seven']) await addAct(live, subject);
  await sealAll(live);
  return { owner, live };
}

const { owner, live } = await newSixLines();
for (const table of TABLES) await owner.query(`create table public.${table.split('.')[1]} as table ${table}`);

/** Does it as the owner of the tables, without the triggers, checks the chain, and puts everything back. */
async function foundAfter(
  statements: readonly string[],
  known?: Parameters<typeof checkChain>[2],
  then = async (): Promise<void> => {},
): Promise<readonly string[]> {
  for (const table of TABLES.slice(0, 2)) await owner.query(`alter table ${table} disable trigger user`);
  for (const statement of statements) await owner.query(statement);
  await then();
  const { faults, found } = await checkChain(owner, HEAD_KEY, known);
  assert.equal(found, BigInt(faults.length));
  await owner.query(`truncate ${TABLES.join()}`);
  for (const table of TABLES) {
    await owner.query(`insert into ${table} overriding system value select * from public.${table.split('.')[1]}`);
  }
  for (const table of TABLES.slice(0, 2)) await owner.query(`alter table ${table} enable trigger user`);
  return faults;
}

const OTHER: Readonly<Record<string, string>> = {
  text: `|| 'x'`,
  bigint: '+ 1',
  'timestamp with time zone': `+ interval '1 microsecond'`,
  jsonb: `|| '{"x": 1}'`,
};
const EMPTY: Readonly<Record<string, string>> = {
  text: `''`,
  bigint: '0',
  jsonb: `'{}'`,
  'timestamp with time zone': 'now()',
};

test('CP-09 a changed audit line is found, for every column', async () => {
  assert.deepEqual(await foundAfter([]), []);
  const rows = await sql<{ name: string; type: string }>(owner)`select column_name as name, data_type as type
    from information_schema.columns
    where table_schema = 'audit' and table_name = 'entries' and column_name <> 'entry_id'`;
  assert.ok(rows.length >= 11);
  for (const { name, type } of rows) {
    const change = `update audit.entries set ${name} = coalesce(${name}, ${EMPTY[type]}) ${OTHER[type]} where entry_id = 2`;
    assert.deepEqual(await foundAfter([change]), ['entry 2, line 2, was changed'], name);
  }
  const digits = `update audit.entries set after = jsonb_set(after, '{most}', '9007199254740991.0') where entry_id = 2`;
  assert.deepEqual(await foundAfter([digits]), ['entry 2, line 2, was changed']);
  assert.deepEqual(await foundAfter(['delete from audit.addresses']), []);
});

/** Gives an entry a link of the same number, so that it does not count as one without a link. */
function hidingLink(number: number): string {
  const zeros = `decode(repeat('00', 32), 'hex')`;
  return `insert into audit.links (link_no, entry_id, previous, hash) values (${number}, ${number}, ${zeros}, ${zeros})`;
}

const NEW = `(entry_id, at, actor, action, subject) overriding system value values`;
const TAMPERINGS: readonly {
  readonly what: string;
  readonly by: readonly string[];
  readonly found: readonly string[];
}[] = [
  {
    what: 'a removed line',
    by: ['delete from audit.entries where entry_id = 5'],
    found: ['entry 5, line 4, was removed'],
  },
  {
    what: 'a removed line with its link',
    by: ['delete from audit.entries where entry_id = 5', 'delete from audit.links where entry_id = 5'],
    found: ['line 4 of the chain was removed'],
  },
  {
    what: 'a removed link',
    by: ['delete from audit.links where link_no in (2, 3)'],
    found: [
      'lines 2 to 3 of the chain were removed',
      'entry 2 was inserted: it has no line in the chain',
      'entry 3 was inserted: it has no line in the chain',
    ],
  },
  {
    what: 'a line inserted under the number of an act that was rolled back',
    by: [`insert into audit.entries ${NEW} (4, now(), 'a', 'app.edit', 'x')`],
    found: ['entry 4 was inserted: it has no line in the chain'],
  },
  {
    what: 'a line with a new number in the place of another',
    by: [
      'delete from audit.entries where entry_id = 5',
      `insert into audit.entries ${NEW} (4, now(), 'a', 'app.edit', 'x')`,
    ],
    found: ['entry 5, line 4, was removed', 'entry 4 was inserted: it has no line in the chain'],
  },
  {
    what: 'two lines that changed places',
    by: [
      `update audit.entries e set subject = o.subject, at = o.at from audit.entries o
       where (e.entry_id, o.entry_id) in ((2, 5), (5, 2))`,
    ],
    found: ['entry 2, line 2, was changed', 'entry 5, line 4, was changed'],
  },
  {
    what: 'two links that changed places',
    by: [
      'update audit.links set link_no = 99 where link_no = 2',
      'update audit.links set link_no = 2 where link_no = 3',
      'update audit.links set link_no = 3 where link_no = 99',
    ],
    found: ['entry 3, line 2, was changed', 'entry 2, line 3, was changed'],
  },
  {
    what: 'a trail cut off at its end',
    by: ['delete from audit.entries where entry_id > 5', 'delete from audit.links where entry_id > 5'],
    found: ['the chain ends at line 4, and its head is line 6'],
  },
  {
    what: 'a trail cut off at its end, with its head',
    by: [
      'delete from audit.entries where entry_id > 5',
      'delete from audit.links where entry_id > 5',
      'update audit.head set (link_no, hash, settled_entry) = (select link_no, hash, entry_id from audit.links where link_no = 4)',
    ],
    found: ['the head of the chain is not sealed with this PURSER_SECRET'],
  },
  {
    what: 'lines inserted under numbers that no chain has',
    by: [
      'alter table audit.links drop constraint links_link_no_check',
      `insert into audit.entries ${NEW} (0, now(), 'a', 'app.edit', 'x'), (-7, now(), 'a', 'app.edit', 'y')`,
      ...[0, -7].map(hidingLink),
    ],
    found: ['line -7 is before the first line of the chain', 'line 0 is before the first line of the chain'],
  },
  {
    what: 'a line inserted under the number of another',
    by: [
      'alter table audit.links drop constraint links_pkey',
      `insert into audit.entries ${NEW} (4, now(), 'a', 'app.edit', 'x')`,
      hidingLink(4),
    ],
    found: ['entry 4, line 4, was changed', 'line 4 is there more than once'],
  },
  { what: 'a head that is gone', by: ['delete from audit.head'], found: ['the head of the chain is gone'] },
];

for (const { what, by, found } of TAMPERINGS) {
  test(`CP-09 the check of the audit trail finds ${what}`, async () => {
    const faults = await foundAfter(by);
    assert.deepEqual(faults.slice(0, found.length), found, faults.join('\n'));
  });
}

/** What somebody does who can compute hashes: changes line 2 and writes every hash after it anew. */
async function writtenAnew(): Promise<readonly string[]> {
  const rows = await selectLinks(owner, undefined, 100);
  let previous: Buffer = Buffer.alloc(32);
  const hashes = rows.map((row) => {
    const subject = row.link_no === 2n ? 'other' : row.subject;
    const hash = linkHash(row.link_no, previous, { ...row, subject } as ChainedEntry);
    const set = `update audit.links set previous = '\\x${previous.toString('hex')}', hash = '\\x${hash.toString('hex')}' where link_no = ${row.link_no}`;
    previous = hash;
    return set;
  });
  return [
    `update audit.entries set subject = 'other' where entry_id = 2`,
    ...hashes,
    `update audit.head set hash = '\\x${previous.toString('hex')}'`,
  ];
}

test('CP-09 the sealed head reveals a fully rehashed trail', async () => {
  const head = await selectHead(owner);
  assert.ok(head !== undefined);
  const known = { linkNo: head.linkNo, hash: head.hash };
  const anew = await writtenAnew();
  assert.deepEqual(await foundAfter(anew), ['the head of the chain is not sealed with this PURSER_SECRET']);
  assert.deepEqual(await foundAfter(anew.slice(0, 3)), [
    'line 3 does not follow the line before it: one of them was written anew',
  ]);
  const isOther = 'line 6 does not have the hash that you gave: the chain was written anew';
  assert.ok((await foundAfter(anew, known)).includes(isOther));
  // A chain that the gateway itself begins anew, over changed entries, is right by itself.
  const begun = [...anew.slice(0, 1), 'truncate audit.links, audit.head', 'insert into audit.head default values'];
  assert.deepEqual(await foundAfter(begun, undefined, () => sealAll(live)), []);
  assert.deepEqual(await foundAfter(begun, known, () => sealAll(live)), [isOther]);
  // An old head with its seal, such as from a backup, fits a trail that was cut off there. Only what was written down since is against it.
  const old = await selectHead(owner);
  await addAct(live, 'eight');
  await sealAll(live);
  const written = await selectHead(owner);
  assert.ok(old !== undefined && written !== undefined);
  assert.deepEqual(await foundAfter(['truncate audit.entries, audit.links, audit.head', ...BACK]), []);
  assert.deepEqual(await foundAfter(['truncate audit.entries, audit.links, audit.head', ...BACK], written), [
    'line 7, whose hash you gave, is gone',
  ]);
});

const BACK = TABLES.map(
  (table) => `insert into ${table} overriding system value select * from public.${table.split('.')[1]}`,
);

test('CP-09 `secret replace` seals the head anew', async () => {
  const other = Buffer.alloc(32, 2);
  await addAct(live, 'waits');
  await assert.rejects(sealEntries(live, other, 0), /not sealed with this PURSER_SECRET/);
  assert.equal((await checkChain(owner, HEAD_KEY)).waiting, 1n);
  await inTransaction(owner, (tx) => resealHead(tx, other));
  await sealEntries(live, other, 0);
  const { found, waiting } = await checkChain(owner, other);
  assert.deepEqual([found, waiting], [0n, 0n]);
  await inTransaction(owner, (tx) => resealHead(tx, HEAD_KEY));
});

test('CP-09 a truncated trail stays broken when new acts follow', async () => {
  await sql(owner)`alter table audit.entries disable trigger user`;
  await sql(owner)`alter table audit.links disable trigger user`;
  const [last] = (await owner.query<{ entry_id: bigint }>('select max(entry_id) as entry_id from audit.entries')).rows;
  for (const table of ['entries', 'links'])
    await owner.query(`delete from audit.${table} where entry_id = $1`, [last?.entry_id]);
  const before = await selectHead(owner);
  await addAct(live, 'after');
  await sealAll(live);
  const { faults } = await checkChain(owner, HEAD_KEY);
  assert.deepEqual(faults, [`line ${before?.linkNo} of the chain was removed`]);
});
