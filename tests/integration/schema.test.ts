import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { editCatalogue } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { createCatalogue } from '../../packages/service/src/catalogue/catalogue.ts';
import { readPriceHistory } from '../../packages/service/src/catalogue/price-history.ts';
import { migrate } from '../../packages/service/src/db/migrate.ts';
import { createPool, inTransaction, type Pool } from '../../packages/service/src/db/pool.ts';
import type { AppId, CallId, EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { checkChanges, checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import { selectChanges } from '../../packages/service/src/ledger/check/queries.ts';
import { createWalletMovements } from '../../packages/service/src/ledger/wallet/movements.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { describeSchema } from '../../tools/schema/describe.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { createTestDatabase } from '../support/database.ts';
import { endOf } from '../support/ledger-database.ts';
import { endHolds } from '../support/turns.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const fresh = await createTestDatabase();
after(() => fresh.close());

test('OP-10 schema.sql shows what a new database has; `npm run schema` writes it again', async () => {
  const text = read('packages/service/schema.sql');
  const real = await describeSchema(fresh.owner, { bodies: false });
  assert.deepEqual(text.slice(text.indexOf('\n\n') + 2).split('\n'), real.split('\n'));
});

/** A model whose price has changed once, as that version stored it. */
const OLD_CATALOGUE = `
  insert into catalogue.providers (name, definition)
    values ('one', '{"kind":"openai-compatible","baseUrl":"http://127.0.0.1:9/v1","onAbandon":"cancel"}');
  insert into catalogue.prices (model_id, input_micros_per_million, cached_input_micros_per_million,
    cache_write_micros_per_million, output_micros_per_million, margin_basis_points)
    values ('acme.old-1', 1, 1, 1, 1, 0), ('acme.old-1', 2, 3, 4, 5, 6);
  insert into catalogue.models (model_id, provider, resale, is_enabled, price_id, settings)
    select 'acme.old-1', 'one', 'open', true, max(price_id), '{"providerModel":"old","free":false,"contextTokens":1000,
      "maxOutputTokens":100,"minOutputTokens":16,"promptOverheadTokens":512,"outputLimitParameter":"max_tokens","timeoutMs":60000}'
    from catalogue.prices;`;

/** MO-05: the model costs what it did, old prices are there for old receipts, and an edit of something else makes no new price. */
async function assertPricesKept(owner: Pool): Promise<void> {
  const catalogue = createCatalogue(owner, () => true);
  await catalogue.refresh();
  const [upstream] = catalogue.find('acme.old-1')?.upstreams ?? [];
  const { priceId, special, ...amounts } = upstream?.price ?? {};
  assert.deepEqual([upstream?.providerModel, upstream?.providerName, special], ['old', 'one', undefined]);
  assert.deepEqual(amounts, {
    inputMicrosPerMillion: 2n,
    cachedInputMicrosPerMillion: 3n,
    cacheWriteMicrosPerMillion: 4n,
    outputMicrosPerMillion: 5n,
    marginBasisPoints: 6n,
  });
  const history = async () => {
    const rows = await readPriceHistory(owner, 'acme.old-1', Date.now());
    return rows.map(({ price, state }) => [
      price.price_id,
      price.provider,
      Number(price.input_micros_per_million),
      state,
    ]);
  };
  const before = await history();
  assert.deepEqual(
    before.map(([, ...rest]) => rest),
    [
      ['one', 2, 'current'],
      [null, 2, 'past'],
      [null, 1, 'past'],
    ],
  );
  assert.equal(before[0]?.[0], priceId);
  await inTransaction(owner, (tx) =>
    editCatalogue(tx, {
      change: (file) => ({ ...file, models: file.models.map((model) => ({ ...model, maxOutputTokens: 99 })) }),
    }),
  );
  assert.deepEqual(await history(), before);
}

test('OP-10 a database of version 0.1 is upgraded with its money, and its open calls can still end', async () => {
  const old = await createTestDatabase({ isEmpty: true });
  const live = createPool({ url: old.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  try {
    await old.owner.query(read('tests/fixtures/schema-0.1/database.sql'));
    await old.owner.query(OLD_CATALOGUE);
    const checked = await selectChanges(old.owner, 0n, 1_000); // By the check of that version.
    await migrate(old.owner);
    // Columns that a migration has added stand last in both.
    const [upgraded, made] = [
      await describeSchema(old.owner, { bodies: true }),
      await describeSchema(fresh.owner, { bodies: true }),
    ];
    assert.deepEqual(upgraded.split('\n'), made.split('\n'));
    await assertPricesKept(old.owner);
    const before = await checkLedger(live);
    assert.deepEqual({ ...before, found: Number(before.found) }, { ...before, differences: [], found: 0 });
    assert.ok(before.wallets >= 4n && before.entries >= 5n, 'the fixture has money');

    const { rows } = await old.owner.query<{ call_id: CallId }>('select call_id from ledger.holds order by call_id');
    assert.ok(rows.length >= 3, 'the fixture has open holds');
    assert.equal(checked[0]?.rule, null);
    assert.equal((await checkChanges(live)).wallets, 0n);
    const ends = await endHolds(
      live,
      rows.map(({ call_id: callId }) => endOf({ callId }, 700)),
    );
    assert.deepEqual(
      ends.map(({ is_settled: isSettled, charged }) => [isSettled, charged]),
      rows.map(() => [true, 700n]),
    );
    assert.equal((await checkLedger(live)).found, 0n);
    const { entries, found } = await checkChanges(live);
    assert.deepEqual({ entries, found }, { entries: BigInt(rows.length), found: 0n });
    const name = { appId: 'app_fixture' as AppId, userId: 'calls' as EndUserId };
    const { walletId = 0n } = (await createWallets(live).find(name.appId, name.userId)) ?? {};
    const newest = { before: undefined, most: 10 };
    const movements = await createWalletMovements(live).page({ ...name, walletId }, newest);
    assert.deepEqual(
      movements.map(({ seq, kind, balanceAfter }) => [seq, kind, balanceAfter]),
      [
        [3n, 'charge', 7_800n], // A receipt.
        [2n, 'charge', 8_500n], // A row of the journal, as charges were before.
        [1n, 'top_up', 10_000n],
      ],
    );
    const left = await old.owner.query('select from ledger.holds');
    assert.equal(left.rowCount, 0);
  } finally {
    await live.end();
    await old.close();
  }
});
