import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { selectAccountByEmail } from '../../packages/service/src/accounts/account-queries.ts';
import { openAddresses } from '../../packages/service/src/app/addresses.ts';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import { sealOldRows } from '../../packages/service/src/db/sealing.ts';
import { emailOf } from '../../packages/service/src/identities/email.ts';
import { IDENTITY_ADDRESSES, upsertIdentity } from '../../packages/service/src/identities/queries.ts';
import type { IdentityId } from '../../packages/service/src/kernel/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { tablesWithAddresses } from '../support/addresses.ts';
import { createTestDatabase, mailsTo } from '../support/database.ts';
import { EMAIL_SEAL, keysOf, TEST_SECRET } from '../support/keys.ts';

const database = await createTestDatabase();
const { owner } = database;
const emails = EMAIL_SEAL;
after(() => database.close());

const CONSTRAINTS = `select c.conrelid::regclass::text as name, conname, pg_get_constraintdef(c.oid) as def
  from pg_constraint c where conname like '%\\_sealed' order by 1, 2`;

/** Rows as version 0.1 stored them: without the constraints that now refuse them. */
async function addOldRows(): Promise<void> {
  const { rows } = await owner.query<{ name: string; conname: string; def: string }>(CONSTRAINTS);
  assert.equal(rows.length, 7);
  for (const { name, conname } of rows) await owner.query(`alter table ${name} drop constraint ${conname}`);
  await owner.query(`
    insert into accounts.accounts (account_id, email) select 'acct_' || n, n || '@example.test' from generate_series(1, 30) n;
    insert into accounts.apps (app_id, account_id, name, generation) values ('app_old', 'acct_1', 'Old', 1);
    insert into accounts.invitations (invitation_id, app_id, email, role, digest, invited_by, expires_at)
      values ('inv_1', 'app_old', 'invited@example.test', 'viewer', sha256('a'), 'acct_1', now() + interval '1 day');
    insert into identities.identities (identity_id, email) select 'idn_' || n, 'e1.' || n || '@example.test' from generate_series(1, 30) n;
    insert into identities.moves (identity_id, before, after) values ('idn_1', 'b@example.test', 'c@example.test');
    insert into identities.codes (digest, email, proof, guesses_left, expires_at)
      values (sha256('a'), 'a@example.test', sha256('b'), 5, now() + interval '1 hour');
    insert into operator.pending_acts (pending_id, action, subject, key, act, amount_micros, reason, requested_by, requested_email, expires_at)
      values ('pnd_1', 'wallet.refund', 'x', 'k', '{}', 1, 'agreed', 'acct_1', '1@example.test', now() + interval '1 hour');
    insert into mail.messages (sealed_recipient, subject, body, html)
      values ('1@example.test', 'From a@example.test', 'Hello 1@example.test', null)`);
  for (const { name, conname, def } of rows) await owner.query(`alter table ${name} add constraint ${conname} ${def}`);
}

test('CP-12 addresses of an older version are sealed at the start, by one of several processes, and found as before', async () => {
  await addOldRows();
  // A process that dies after its second batch.
  const [identities] = IDENTITY_ADDRESSES;
  assert.ok(identities !== undefined);
  await assert.rejects(sealOldRows(failingAfter(owner, 2), emails, [identities], 10), /It dies/);
  const sealed = `select from identities.identities where email ~ '^e1[.][A-Za-z0-9_-]+$'`;
  assert.equal((await owner.query(sealed)).rowCount, 20);
  const second = createPool({ url: database.url, role: 'owner', connectionsMax: 2, log: createLog('silent') });
  after(() => second.end());
  const done = await Promise.all([owner, second].map((pool) => openAddresses(pool, keysOf(TEST_SECRET))));
  assert.deepEqual(new Set(done), new Set([0, 45]));
  assert.deepEqual(await tablesWithAddresses(owner), []);
  const { rows } = await owner.query<{ def: string }>(CONSTRAINTS);
  assert.ok(rows.every(({ def }) => !def.includes('NOT VALID')));
  assert.equal((await selectAccountByEmail(owner, '7@example.test'))?.account_id, 'acct_7');
  const email = emailOf('E1.7@example.test');
  assert.ok(email !== undefined);
  const identity = await upsertIdentity(owner, 'idn_new' as IdentityId, email);
  assert.deepEqual(identity, { identity_id: 'idn_7', email: 'e1.7@example.test' });
  assert.deepEqual(await mailsTo(owner, '1@example.test'), [
    { subject: 'From a@example.test', body: 'Hello 1@example.test', html: null },
  ]);
  assert.equal(await openAddresses(owner, keysOf(TEST_SECRET)), 0);
});

/** A pool with one connection, which fails after so many committed batches. */
function failingAfter(pool: Pool, batches: number): Pool {
  let commits = 0;
  return Object.assign(Object.create(pool) as Pool, {
    query: pool.query.bind(pool),
    connect: async () => {
      const client = await pool.connect();
      const send = client.query.bind(client) as (...statement: unknown[]) => unknown;
      return {
        query: (...statement: unknown[]) => {
          if (statement[0] === 'commit' && (commits += 1) > batches) throw new Error('It dies.');
          return send(...statement);
        },
        release: (isBroken: boolean) => client.release(isBroken),
      };
    },
  });
}

test('CP-12 a process of an older version cannot store a plain address, and so cannot make one person two', async () => {
  for (const [table, statement] of [
    ['accounts', `insert into accounts.accounts (account_id, email) values ('acct_x', 'x@example.test')`],
    ['identities', `insert into identities.identities (identity_id, email) values ('idn_x', '7@example.test')`],
    ['messages', `insert into mail.messages (sealed_recipient, subject, body) values ('x@example.test', 'x', 'x')`],
  ] as const) {
    await assert.rejects(owner.query(statement), new RegExp(`${table}_(email_)?sealed`));
  }
});
