import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase, sealedEmail } from '../support/database.ts';
import { sql } from '../support/sql.ts';

const { owner, close } = await createTestDatabase();
after(close);
const SEALED = sealedEmail('a@example.test');

/** A row of each table that keeps addresses, with an address in place of `@`. */
const ROWS: Readonly<Record<string, string>> = {
  'accounts.accounts': `(account_id, email) values ('acct_1', '@')`,
  'accounts.apps': `(app_id, account_id, name, generation) values ('app_1', 'acct_1', 'One', 1)`,
  'accounts.invitations': `(invitation_id, app_id, email, role, digest, invited_by, expires_at)
    values ('inv_1', 'app_1', '@', 'viewer', sha256('a'), 'acct_1', now() + interval '1 day')`,
  'identities.identities': `(identity_id, email) values ('idn_1', '@')`,
  'identities.moves': `(identity_id, before, after) values ('idn_1', '${SEALED}', '@')`,
  'identities.codes': `(digest, email, proof, guesses_left, expires_at)
    values (sha256('a'), '@', sha256('b'), 5, now() + interval '1 hour')`,
  'operator.pending_acts': `(pending_id, action, subject, key, act, amount_micros, reason, requested_by, requested_email, expires_at)
    values ('pnd_1', 'wallet.refund', 'x', 'k', '{}', 1, 'agreed', 'acct_1', '@', now() + interval '1 hour')`,
  'mail.messages': `(sealed_recipient, subject, body) values ('@', '${SEALED}', '${SEALED}')`,
};

test('CP-12 a table keeping addresses refuses a plain one', async () => {
  const rows = await sql<{ name: string }>(owner)`select conrelid::regclass::text as name from pg_constraint
    where conname like '%\\_sealed' and convalidated`;
  const guarded = rows.map(({ name }) => name);
  assert.deepEqual(
    guarded.toSorted(),
    Object.keys(ROWS)
      .filter((name) => name !== 'accounts.apps')
      .toSorted(),
  );
  for (const [table, row] of Object.entries(ROWS)) {
    const insert = (address: string) => owner.query(`insert into ${table} ${row.replace("'@'", `'${address}'`)}`);
    if (guarded.includes(table)) await assert.rejects(insert('a@example.test'), /_sealed"/, table);
    await insert(SEALED);
  }
});
