import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPool } from '../../packages/service/src/db/pool/pool.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { createWalletOwners } from '../../packages/service/src/operator/people/wallet-owners.ts';
import { createPreviews, type WalletEffects } from '../../packages/service/src/operator/money/wallet-preview.ts';
import { createOperatorWallets } from '../../packages/service/src/operator/money/wallets.ts';
import { EMAIL_SEAL } from '../support/keys.ts';
import { APP, createLedgerDatabase } from '../support/ledger-database.ts';
import { countWaiting, lockWallet } from '../support/lock-wait.ts';
import { waitUntil } from '../support/wait-until.ts';

const BY = { actor: 'tests', reason: 'as agreed', limits: undefined };
const USER = 'previewed' as EndUserId;
const nobody = () => Promise.resolve();

test('CP-05 a preview waits for no other act’s connection', async (t) => {
  const ledger = await createLedgerDatabase();
  t.after(ledger.close);
  await ledger.open(USER, 1_000);
  // As the owner, whose statements wait for locks without limit: two that wait for each other are seen to.
  const { url } = ledger.database;
  const log = createLog('silent');
  const pool = createPool({ url, role: 'owner', connectionsMax: 2, log, emails: EMAIL_SEAL });
  t.after(() => pool.end());
  const ground = { currency: 'EUR', refunds: undefined };
  const previews = createPreviews(pool, (inside) => ({
    wallets: createOperatorWallets({ pool: inside, ...ground }),
    walletOwners: createWalletOwners({ pool: inside, currency: 'EUR', mailReleased: nobody, mailMoved: nobody }),
  }));
  const wallet = { appId: APP, userId: USER };
  const lock = await lockWallet(ledger.database, USER);
  const shown = previews.walletAct(BY, wallet, { act: 'credit', amount: micros(5n), key: 'preview' });
  await lock.waiting(1);
  const done = createOperatorWallets({ pool, ...ground }).act(BY, {
    kind: 'credit',
    ...wallet,
    amount: micros(7n),
    key: 'done',
  });
  // It waits for a connection. If it had one, it would wait for the preview, which must not wait for it.
  await waitUntil('both wait', async () => pool.waitingCount > 0 || (await countWaiting(ledger.database)) > 1);
  await lock.release();
  const effects = await shown;
  assert.ok(!(effects instanceof Refusal));
  const { before, after }: WalletEffects = effects;
  assert.deepEqual([before?.balance, after.balance], [1_000n, 1_005n]);
  assert.ok(!((await done) instanceof Refusal));
  assert.equal((await ledger.wallet(USER)).balance, 1_007);
  assert.deepEqual(await ledger.differences(), []);
});
