import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { createCatalogue } from '../../packages/service/src/catalogue/catalogue.ts';
import type { Pool } from '../../packages/service/src/db/pool.ts';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase } from '../support/database.ts';

const FILE = catalogueAt('http://127.0.0.1:9/v1');

/** Hands out connections from a pool whose transactions wait for `gate` before they end. */
function slowed(pool: Pool, gate: () => Promise<void>): Pool {
  const connect = async () => {
    const client = await pool.connect();
    const query = async (text: string, values?: unknown[]) => {
      const wait = text === 'commit' ? gate() : undefined;
      await wait;
      return client.query(text, values);
    };
    return { query, release: client.release.bind(client) };
  };
  return { connect } as unknown as Pool;
}

test('MO-05 a slow catalogue read does not replace the result of a newer one', async (t) => {
  const { owner, close } = await createTestDatabase();
  t.after(close);
  await applyCatalogueFile(owner, JSON.stringify({ ...FILE, aliases: { old: 'acme.large-1' } }));
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const gates = [opened];
  const catalogue = createCatalogue(
    slowed(owner, () => gates.shift() ?? Promise.resolve()),
    () => true,
  );
  const slow = catalogue.refresh();
  while (gates.length > 0) await new Promise(setImmediate); // The read has all its rows and is about to end.
  await applyCatalogueFile(owner, JSON.stringify({ ...FILE, aliases: { new: 'acme.large-1' } }));
  await catalogue.refresh();
  assert.ok(catalogue.find('new') !== undefined);
  open();
  await slow;
  assert.deepEqual([catalogue.find('new')?.id, catalogue.find('old')], ['acme.large-1', undefined]);
});
