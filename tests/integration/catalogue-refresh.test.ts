import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  applyCatalogueFile,
  CatalogueFileError,
  editCatalogue,
  readCatalogue,
} from '../../packages/service/src/catalogue/catalogue-file.ts';
import { createCatalogue } from '../../packages/service/src/catalogue/catalogue.ts';
import { inTransaction, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql } from '../support/sql.ts';

const FILE = catalogueAt('http://127.0.0.1:9/v1');
const { owner, close } = await createTestDatabase();
after(close);

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

test('MO-05 a slow catalogue read does not replace a newer one', async () => {
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

test('WA-07 MO-08 a prompt’s bound counts what an entry always adds', async () => {
  const extraBody = { top_k: 5, chat_template_kwargs: { persona: 'ü'.repeat(500) } };
  const providers = { ...FILE.providers, upstream: { ...FILE.providers.upstream, extraBody } };
  const catalogue = createCatalogue(owner, () => true);
  const overhead = async (file: object) => {
    await applyCatalogueFile(owner, JSON.stringify(file));
    await catalogue.refresh();
    return catalogue.find('acme.large-1')?.promptOverheadTokens;
  };
  const before = await overhead(FILE);
  assert.equal(await overhead({ ...FILE, providers }), Number(before) + Buffer.byteLength(JSON.stringify(extraBody)));
});

const MONDAY = '2100-01-04T00:00:00Z';
const MONDAY_MS = Date.parse(MONDAY);
const AT_ONE = { provider: 'upstream', providerModel: 'one' };
const AT_TWO = { provider: 'upstream', providerModel: 'two' };

function priceOf(input: number) {
  return { inputMicrosPerMillion: input, outputMicrosPerMillion: 1 };
}

/** A catalogue with one model of two upstreams. The second has a price of its own. */
function twoUpstreams(changes: Readonly<Record<string, unknown>> = {}) {
  const upstreams = [AT_ONE, { ...AT_TWO, price: priceOf(20), marginMicrosPerCall: 7 }];
  const model = { id: 'acme.both-1', resale: 'open', upstreams, contextTokens: 1_000, maxOutputTokens: 100 };
  const priceChanges = [{ from: MONDAY, price: priceOf(11), marginBasisPoints: 5 }];
  return { ...FILE, models: [{ ...model, price: priceOf(10), priceChanges, ...changes }], aliases: {} };
}

async function apply(file: object, nowMs?: number): Promise<void> {
  await applyCatalogueFile(owner, JSON.stringify(file), nowMs);
}

test('MO-05 a scheduled price comes into force by itself', async () => {
  let nowMs = MONDAY_MS - 1;
  const catalogue = createCatalogue(owner, () => true, { nowMs: () => nowMs });
  await apply(twoUpstreams());
  await catalogue.refresh();
  const inForce = () => {
    const prices = catalogue.find('acme.both-1')?.upstreams.map(({ price }) => price) ?? [];
    return prices.map((price) => [
      price.inputMicrosPerMillion,
      price.marginBasisPoints,
      price.special?.marginMicrosPerCall,
    ]);
  };
  assert.deepEqual(inForce(), [
    [10n, 0n, undefined],
    [20n, 0n, 7n],
  ]);
  const running = catalogue.find('acme.both-1');
  const before = running?.upstreams[0].price.priceId;
  nowMs = MONDAY_MS;
  assert.deepEqual(inForce(), [
    [11n, 5n, undefined],
    [20n, 0n, 7n],
  ]);
  assert.equal(running?.upstreams[0].price.priceId, before, 'a call keeps the price that it began with');
  assert.notEqual(catalogue.find('acme.both-1')?.upstreams[0].price.priceId, before);
});

test('MO-05 a new price from the past is refused', async () => {
  await apply(twoUpstreams());
  const { file } = await readCatalogue(owner);
  const [model] = file.models;
  assert.ok(model !== undefined);
  const edited = { ...file, models: [{ ...model, maxOutputTokens: 99 }] };
  await inTransaction(owner, (tx) => editCatalogue(tx, { change: () => edited }, MONDAY_MS + 1));
  const priceChanges = [{ from: '2100-01-03T00:00:00Z', price: priceOf(12) }];
  const outdated = { ...edited, models: [{ ...model, priceChanges }] };
  await assert.rejects(
    inTransaction(owner, (tx) => editCatalogue(tx, { change: () => outdated }, MONDAY_MS + 1)),
    (fault) =>
      fault instanceof CatalogueFileError && /models\.0\.priceChanges\.0\.from: .*has passed/.test(fault.message),
  );
});

/** The prices that the catalogue names, by their ids. */
async function named(): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ name: string; id: bigint }>(owner)`
    select concat_ws(' ', p.provider_model, p.input_micros_per_million, to_char(p.effective_from at time zone 'utc', 'DD')) as name,
      p.price_id as id
    from catalogue.prices p where model_id = 'acme.both-1' and not exists (
      select from catalogue.price_ends e where e.price_id = p.price_id
    )`;
  return new Map(rows.map(({ name, id }) => [name, id]));
}

test('MO-05 only a changed price gets a new row', async () => {
  await apply(twoUpstreams());
  const first = await named();
  assert.deepEqual([...first.keys()].toSorted(), ['one 10', 'one 11 04', 'two 20']);
  await apply(twoUpstreams({ minOutputTokens: 5 }));
  assert.deepEqual(await named(), first);
  // On Monday, the price that has come into force is written into `price`: nothing changes for calls.
  await apply(twoUpstreams({ price: priceOf(11), marginBasisPoints: 5, priceChanges: [] }), MONDAY_MS);
  const cleaned = await named();
  assert.equal(cleaned.get('one 11 04'), first.get('one 11 04'));
  assert.deepEqual(cleaned.size, 2);
  // Back to the price before: it has begun anew, so it is another row.
  await apply(twoUpstreams({ priceChanges: [] }), MONDAY_MS + 1);
  const back = await named();
  assert.notEqual(back.get('one 10'), first.get('one 10'));
  assert.deepEqual([...back.keys()].toSorted(), ['one 10', 'two 20']);
  await apply({ ...FILE, aliases: {} });
  assert.equal((await named()).size, 0, 'a model that is gone has no prices');
});

const isIdlePrice = (fault: unknown) =>
  fault instanceof CatalogueFileError && /models\.0\.price: .*2100-01-04T00:00:00Z/.test(fault.message);

test('MO-05 a price that would never count is refused', async () => {
  await apply(twoUpstreams());
  const { file } = await readCatalogue(owner);
  const [model] = file.models;
  assert.ok(model !== undefined);
  const edit = (changes: object) => {
    const edited = { ...file, models: [{ ...model, ...changes }] };
    return inTransaction(owner, (tx) => editCatalogue(tx, { change: () => edited }, MONDAY_MS + 1));
  };
  await assert.rejects(edit({ price: priceOf(12) }), isIdlePrice);
  await edit({ marginBasisPoints: 9 });
  await edit({ price: priceOf(11) }); // The one in force.
  await edit({ price: priceOf(12), priceChanges: [] });
});
