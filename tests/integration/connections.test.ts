import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConnections } from '../../packages/service/src/connections/connection.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { connectionsOf } from '../support/connections.ts';
import { newOperator } from '../support/control.ts';
import { trailOf } from '../support/trail.ts';
import { setWebhookStage } from '../support/webhook-stage.ts';

const stage = await setWebhookStage();
const { service, subscribe } = stage;
const db = service.database.owner;
const connections = connectionsOf(service.database);
const { newIdentity, connect } = connections;
const app = await subscribe({ events: ['connection.created', 'topup.completed'] });
const { appId } = app;

let users = 0;

function newUser(): string {
  return `user-${(users += 1)}`;
}

async function walletOf(user: string) {
  return (await connections.find(appId, user as EndUserId))?.wallet ?? assert.fail('no connection found');
}

/** The types of the events that the app got about a user. */
async function toldOf(user: string): Promise<readonly string[]> {
  await stage.whenQuiet();
  const sent = stage.receiver.at(app.path).map(({ body }) => JSON.parse(body.toString('utf8')) as Told);
  return sent
    .filter(({ data }) => data.userId === user)
    .map(({ type }) => type)
    .toSorted();
}

interface Told {
  readonly type: string;
  readonly data: { readonly userId: string };
}

/** Every row that a consent could write. */
async function rowsOf(user: string) {
  const { rows } = await db.query<Record<string, unknown>>(
    `select (select to_jsonb(c) from connections.connections c where c.app_id = $1 and c.user_id = $2) as connection,
       (select to_jsonb(w) - 'version' from ledger.wallets w where w.app_id = $1 and w.user_id = $2) as wallet,
       (select count(*)::int from audit.entries) as audited`,
    [appId, user],
  );
  return rows[0];
}

test('ON-01 WH-07 consent opens the wallet and sends one event', async () => {
  const [user, identity] = [newUser(), await newIdentity()];
  const made = await connect({ identity, appId, user, cap: 20_000_000, userLabel: 'Anna at App' });
  assert.equal(made.userLabel, 'Anna at App');
  assert.equal(made.cap, 20_000_000n);
  assert.equal(made.isPaused, false);
  const { isConnected, isSuspended, balance, cap, currency } = made.wallet;
  assert.deepEqual(
    { isConnected, isSuspended, balance, cap, currency },
    { isConnected: true, isSuspended: false, balance: 0n, cap: 20_000_000n, currency: 'EUR' },
  );
  assert.deepEqual(await toldOf(user), ['connection.created']);
  assert.deepEqual(await connections.ofIdentity({ ...identity, connectionId: made.connectionId }), made);
});

test('ON-05 WH-07 reconnecting finds the same wallet and sends no event', async () => {
  const [user, identity] = [newUser(), await newIdentity()];
  const made = await connect({ identity, appId, user, cap: 5_000_000, userLabel: 'Old' });
  await stage.topUp(appId, user, 1_000);
  assert.equal(await connections.setConnected({ ...identity, connectionId: made.connectionId }, false), true);
  assert.equal((await walletOf(user)).isConnected, false);
  const again = await connect({ identity, appId, user });
  assert.equal(again.connectionId, made.connectionId);
  assert.equal(again.consentedAtMs, made.consentedAtMs);
  assert.equal(again.userLabel, 'Old', 'consent without a label keeps the old one');
  assert.equal(again.wallet.walletId, made.wallet.walletId);
  assert.equal(again.wallet.balance, 1_000n);
  assert.equal(again.cap, undefined);
  assert.equal((await connect({ identity, appId, user, userLabel: 'New' })).userLabel, 'New');
  assert.deepEqual(await toldOf(user), ['connection.created', 'topup.completed']);
});

test('BI-04 a wallet belongs to the first identity that consents', async () => {
  const [user, first, second] = [newUser(), await newIdentity(), await newIdentity()];
  const { connectionId } = await connect({ identity: first, appId, user, cap: 5_000_000, userLabel: 'Mine' });
  const before = await rowsOf(user);
  for (const isConnected of [true, false]) {
    if (!isConnected) await connections.setConnected({ ...first, connectionId }, false);
    const userId = user as EndUserId;
    const consent = { ...second, appId, userId, userLabel: 'Theirs', cap: undefined, linkBeganAtMs: Date.now() };
    assert.equal(await connections.consent(consent), 'foreign');
    assert.equal((await walletOf(user)).isConnected, isConnected);
  }
  await connections.setConnected({ ...first, connectionId }, true);
  assert.deepEqual(await rowsOf(user), before);
  assert.deepEqual(await connections.list(second.identityId), []);
});

test('BI-04 of identities consenting at once, one owns the wallet', async () => {
  // Locked by the database owner, whose lock has no timeout: the service's own locks time out, and the machine may be slow.
  const { consent } = createConnections(db, 'EUR');
  for (let round = 0; round < 10; round += 1) {
    const user = newUser();
    const identities = await Promise.all([newIdentity(), newIdentity(), newIdentity()]);
    const made = await Promise.all(
      identities.map(({ identityId }, index) =>
        consent({
          identityId,
          appId,
          userId: user as EndUserId,
          userLabel: undefined,
          cap: micros(BigInt(index + 1)),
          linkBeganAtMs: Date.now(),
        }),
      ),
    );
    const winners = made.filter((one) => typeof one !== 'string');
    assert.equal(winners.length, 1);
    const owned = await connections.find(appId, user as EndUserId);
    assert.equal(owned?.identityId, winners[0]?.identityId);
    assert.equal(owned?.cap, BigInt(made.indexOf(winners[0] ?? 'foreign') + 1), 'the cap is the one its owner set');
    assert.deepEqual(await toldOf(user), ['connection.created']);
  }
});

test('WH-07 claiming an operator’s wallet sends an event', async () => {
  const operator = await newOperator(service);
  const [user, identity] = [newUser(), await newIdentity()];
  await operator.get(201, 'POST', `/operator/apps/${appId}/wallets`, {
    userId: user,
    creditMicros: 700,
    idempotencyKey: 'contract',
  });
  assert.deepEqual(await toldOf(user), []);
  const made = await connect({ identity, appId, user, cap: 9_000_000 });
  assert.equal(made.wallet.balance, 700n);
  assert.equal(made.cap, 9_000_000n);
  await connect({ identity, appId, user });
  assert.deepEqual(await toldOf(user), ['connection.created']);
  const claims = (await trailOf(operator, `${appId} ${user}`)).filter(({ action }) => action === 'wallet.claim');
  assert.deepEqual(claims, [
    { actor: identity.identityId, action: 'wallet.claim', subject: `${appId} ${user}`, reason: null },
  ]);
});

test('WH-07 opening one’s own wallet is not a claim', async () => {
  const operator = await newOperator(service);
  const [user, identity] = [newUser(), await newIdentity()];
  await connect({ identity, appId, user });
  assert.deepEqual(await trailOf(operator, `${appId} ${user}`), []);
});

test('WA-11 suspension and connection never change each other', async () => {
  const [user, identity] = [newUser(), await newIdentity()];
  const { connectionId } = await connect({ identity, appId, user });
  const testApp = { ...app, testKey: '' };
  await service.setWallet(testApp, user, 'is_suspended = true');
  const owner = { ...identity, connectionId };
  for (const isConnected of [false, true]) {
    await connections.setConnected(owner, isConnected);
    const { isSuspended, isConnected: is } = await walletOf(user);
    assert.deepEqual([isSuspended, is], [true, isConnected]);
  }
  await connections.setConnected(owner, false);
  const again = await connect({ identity, appId, user });
  assert.deepEqual([again.wallet.isSuspended, again.wallet.isConnected], [true, true]);
  await service.setWallet(testApp, user, 'is_suspended = false');
  assert.equal((await walletOf(user)).isConnected, true);
});

test('ON-04 resuming after a pause restores the earlier cap', async () => {
  for (const cap of [5_000_000, undefined]) {
    const [user, identity] = [newUser(), await newIdentity()];
    const { connectionId } = await connect({ identity, appId, user, cap });
    const owner = { ...identity, connectionId };
    const kept = cap === undefined ? undefined : BigInt(cap);
    for (const _again of [1, 2]) {
      assert.equal(await connections.setPaused(owner, true), true); // A second pause keeps the earlier cap.
      const paused = await connections.ofIdentity(owner);
      assert.deepEqual([paused?.isPaused, paused?.cap, paused?.wallet.cap], [true, kept, 0n]);
    }
    for (const _again of [1, 2]) {
      assert.equal(await connections.setPaused(owner, false), true);
      const resumed = await connections.ofIdentity(owner);
      assert.deepEqual([resumed?.isPaused, resumed?.cap, resumed?.wallet.cap], [false, kept, kept]);
    }
  }
});

test('ON-04 setting a cap or consenting ends a pause', async () => {
  const [user, identity] = [newUser(), await newIdentity()];
  const { connectionId } = await connect({ identity, appId, user, cap: 5_000_000 });
  const owner = { ...identity, connectionId };
  await connections.setPaused(owner, true);
  await connections.setCap(owner, micros(7_000_000n));
  const set = await connections.ofIdentity(owner);
  assert.deepEqual([set?.isPaused, set?.cap, set?.wallet.cap], [false, 7_000_000n, 7_000_000n]);
  await connections.setPaused(owner, true);
  const again = await connect({ identity, appId, user, cap: 8_000_000 });
  assert.deepEqual([again.isPaused, again.cap, again.wallet.cap], [false, 8_000_000n, 8_000_000n]);
  await connections.setPaused(owner, false);
  assert.equal((await walletOf(user)).cap, 8_000_000n, 'no earlier cap is left to restore');
  await connections.setCap(owner, undefined);
  assert.equal((await walletOf(user)).cap, undefined);
});

test('ON-04 an identity cannot see or change another’s connection', async () => {
  const [user, identity, stranger] = [newUser(), await newIdentity(), await newIdentity()];
  const { connectionId } = await connect({ identity, appId, user, cap: 5_000_000 });
  const before = await rowsOf(user);
  const foreign = { ...stranger, connectionId };
  assert.equal(await connections.ofIdentity(foreign), undefined);
  assert.equal(await connections.setCap(foreign, undefined), false);
  assert.equal(await connections.setPaused(foreign, true), false);
  assert.equal(await connections.setConnected(foreign, false), false);
  assert.deepEqual(await rowsOf(user), before);
});

test('ON-04 an identity sees only its own connections, newest first', async () => {
  const [identity, other] = [await newIdentity(), await newIdentity()];
  const named = [newUser(), newUser(), newUser()];
  for (const user of named) await connect({ identity, appId, user });
  await connect({ identity: other, appId, user: newUser() });
  const listed = await connections.list(identity.identityId);
  assert.deepEqual(
    listed.map(({ userId }) => userId),
    named.toReversed(),
  );
  assert.deepEqual(await service.check(), []);
});
