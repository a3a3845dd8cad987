import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { sessionRecords } from '../../packages/service/src/db/records/named-session.ts';
import { holdRequests } from '../../packages/service/src/db/records/hold-request.ts';
import { isItemFault } from '../../packages/service/src/db/pool/pool.ts';
import { type AppId, type EndUserId, newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { settlementRecords } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { sandboxSettlementRecords } from '../../packages/service/src/sandbox/holds/settlement.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql } from '../support/sql.ts';
import { anyCharacter } from '../support/any-character.ts';

const database = await createTestDatabase();
after(() => database.close());

const WRITERS = {
  'db.hold_request': holdRequests,
  'db.named_session': sessionRecords,
  'ledger.settlement': settlementRecords,
  'sandbox.settlement': sandboxSettlementRecords,
};

for (const [type, { attributes }] of Object.entries(WRITERS)) {
  test(`OP-10 ${type} has the same attributes, in the same order, on both sides`, async () => {
    const rows = await sql<{ name: string }>(database)`select a.attname as name from pg_attribute a
      join pg_type t on t.typrelid = a.attrelid
      where t.oid = ${type}::regtype and a.attnum > 0 and not a.attisdropped order by a.attnum`;
    assert.deepEqual(
      attributes,
      rows.map(({ name }) => name),
    );
  });
}

const NOTHING_SPECIAL = { appId: 'app_1' as AppId, least: micros(1n), most: micros(2n), streamsMax: 0 };

test('OP-10 the database reads any record as written', async () => {
  // NUL cannot be stored, and lone surrogates are no text.
  const texts = fc
    .string({ unit: anyCharacter, maxLength: 30 })
    .filter((text) => !text.includes('\0') && text.isWellFormed());
  const odd = fc.oneof(
    texts,
    fc.constantFrom('', 'null', 'NULL', '"', '\\', ',', '(', ')', '{}', ' ', '\n', "'", '\\x00', '"",'),
  );
  const item = fc.record({ user: odd, bytes: fc.uint8Array({ maxLength: 20 }), isKeyed: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 8 }), async (items) => {
      const requests = items.map(({ user, bytes, isKeyed }) => ({
        ...NOTHING_SPECIAL,
        callId: newCallId(),
        userId: user as EndUserId,
        idempotencyKey: isKeyed
          ? { digest: Buffer.from(bytes), body: Buffer.from([...bytes].toReversed()), joins: true, joined: newCallId() }
          : undefined,
      }));
      const rows = await sql(database)`
        select r.call_id, r.app_id, r.user_id, r.least_micros, r.most_micros, r.streams_max, r.key_digest, r.body_digest, r.joins,
          r.joined_call
        from unnest(${holdRequests(requests)}::db.hold_request[]) r`;
      assert.deepEqual(
        rows,
        requests.map(({ callId, userId, idempotencyKey: key }) => ({
          call_id: callId,
          app_id: 'app_1',
          user_id: userId,
          least_micros: 1n,
          most_micros: 2n,
          streams_max: 0,
          key_digest: key?.digest ?? null,
          body_digest: key?.body ?? null,
          joins: key?.joins ?? null,
          joined_call: key?.joined ?? null,
        })),
      );
    }),
    { numRuns: 200 },
  );
});

const read = (literal: string): Promise<unknown> =>
  database.owner.query('select $1::sandbox.settlement[]', [literal]).catch((fault: unknown) => fault);

test('OP-10 another build’s record is recognised in any server language', async () => {
  const fault = await read(`{"(${newCallId()},1,2)"}`);
  assert.ok(fault instanceof Error);
  fault.message = 'fehlerhafte Record-Konstante: »(1,2)«'; // As a server with `lc_messages = 'de_DE.utf8'` says it.
  assert.equal(isItemFault(fault), false);
});

test('OP-10 a call waits for a build that reads its record', async () => {
  assert.equal(isItemFault(await read(`{"(${newCallId()},1,2,false,3)"}`)), false);
  assert.equal(isItemFault(await read(`{"(${newCallId()},1,2)"}`)), false);
  assert.equal(isItemFault(await read(`{"(${newCallId()},1.5,2,false)"}`)), true);
});
