import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startExpiry } from '../../packages/service/src/developers/expiry.ts';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import { createForgetSignIns } from '../../packages/service/src/people/session.ts';
import { sha256 } from '../../packages/service/src/kernel/crypto/crypto.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { createThrottle } from '../../packages/service/src/limits/throttle.ts';
import { createTestDatabase } from '../support/database.ts';
import { waitUntil } from '../support/wait-until.ts';

const DAY_US = 24 * 60 * 60 * 1_000_000;

test('CP-01 only expired sessions, resets, invitations and attempts are removed', async (t) => {
  const database = await createTestDatabase();
  const { owner } = database;
  const pool = createPool({ url: database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  const log = createLog('silent');
  const tries = createThrottle(pool);
  await owner.query(`
    insert into accounts.accounts (account_id, email) values ('a', 'e1.a'), ('b', 'e1.b');
    insert into accounts.sessions (session_id, account_id, digest, created_at, expires_at)
      select n, 'a', sha256(n::bytea), clock_timestamp() - interval '2 days', clock_timestamp() + lasts::interval
      from (values ('old', '-1 second'), ('new', '1 hour')) v (n, lasts);
    insert into accounts.password_resets (account_id, digest, expires_at)
      select n, sha256(n::bytea), clock_timestamp() + lasts::interval
      from (values ('a', '-1 second'), ('b', '1 hour')) v (n, lasts);
    insert into accounts.apps (app_id, account_id, name, rate_per_minute, rate_burst, max_streams_per_user, generation)
      values ('app', 'a', 'App', 60, 60, 4, 1);
    insert into accounts.invitations (invitation_id, app_id, email, role, digest, invited_by, created_at, expires_at)
      select n, 'app', 'e1.' || n, 'viewer', sha256(n::bytea), 'a', clock_timestamp() - interval '8 days', clock_timestamp() + lasts::interval
      from (values ('old', '-1 second'), ('new', '1 hour')) v (n, lasts);
    insert into identities.identities (identity_id, email) values ('i', 'e1.i');
    insert into identities.sessions (session_id, identity_id, digest, expires_at)
      select n, 'i', sha256(n::bytea), clock_timestamp() + lasts::interval
      from (values ('old', '-1 second'), ('new', '1 hour')) v (n, lasts);
    insert into identities.codes (digest, email, proof, guesses_left, expires_at)
      select sha256(n::bytea), 'e1.' || n, sha256(n::bytea), 0, clock_timestamp() + lasts::interval
      from (values ('old', '-1 second'), ('new', '1 hour')) v (n, lasts);
    insert into identities.answered_challenges (digest, expires_at)
      select sha256(n::bytea), clock_timestamp() + lasts::interval
      from (values ('old', '-61 minutes'), ('late', '-59 minutes')) v (n, lasts);
    insert into limits.buckets (app_id, units, refilled_at_us)
      select n, 0, (extract(epoch from clock_timestamp()) * 1000000)::bigint - age
      from (values ('sign-in:old', ${DAY_US} + 1000000), ('sign-in:new', ${DAY_US} - 600000000), ('app_old', ${DAY_US} * 9)) v (n, age)`);
  const expiry = startExpiry({ db: pool, forget: [tries.forget, createForgetSignIns(pool)], log, periodMs: 20 });
  t.after(async () => {
    await expiry.stop();
    await pool.end();
    await database.close();
  });
  const names = async (sql: string): Promise<unknown[]> =>
    (await owner.query<{ name: string }>(sql)).rows.map(({ name }) => name);
  const buckets = `select app_id as name from limits.buckets order by 1`;
  await waitUntil('the attempts are gone', async () => (await names(buckets)).length < 3);
  const codes = `select email as name from identities.codes`;
  await waitUntil('the codes are gone', async () => (await names(codes)).length < 2);
  assert.deepEqual(await names(codes), ['e1.new']);
  const challenges = `select encode(digest, 'hex') as name from identities.answered_challenges`;
  assert.deepEqual(await names(challenges), [sha256('late').toString('hex')]);
  assert.deepEqual(await names(`select session_id as name from identities.sessions`), ['new']);
  assert.deepEqual(await names(buckets), ['app_old', 'sign-in:new']);
  assert.deepEqual(await names(`select session_id as name from accounts.sessions`), ['new']);
  assert.deepEqual(await names(`select invitation_id as name from accounts.invitations`), ['new']);
  assert.deepEqual(await names(`select account_id as name from accounts.password_resets`), ['b']);
});

test('CP-01 a failed removal is logged and tried again', async (t) => {
  const lines: unknown[][] = [];
  const keep = (...fields: unknown[]): void => void lines.push(fields);
  let passes = 0;
  const db = { query: async () => ((passes += 1), Promise.reject(new Error('away'))) };
  const expiry = startExpiry({
    db,
    forget: [],
    log: { debug: keep, info: keep, warn: keep, error: keep },
    periodMs: 5,
  });
  t.after(expiry.stop);
  await waitUntil('the removal was tried again', () => passes > 1);
  assert.match(JSON.stringify(lines), /expired rows could not be deleted/);
});
