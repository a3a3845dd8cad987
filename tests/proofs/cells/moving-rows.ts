// What two cells know of users who move, for tests of moves.
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { selectMovingWallets } from '../../../packages/service/src/ledger/moving/queries.ts';
import type { TestDatabase } from '../../support/database.ts';
import { APP } from '../../support/ledger-database.ts';
import { sql } from '../../support/sql.ts';

/** What would be deleted with the rows that were copied before. */
export const CHANGES_OF_ROWS = [
  `insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment, amount_micros, currency, state, anomaly)
   select 'pay_2', checkout_id, app_id, user_id, 'test', 'p2', 5000000, 'EUR', 'kept', 'second' from payments.payments`,
  `insert into payments.dispute_movements (processor, processor_movement, payment_id, amount_micros, is_reinstated, is_booked)
   values ('test', 'm', 'pay_1', 1, false, false)`,
  `insert into payments.cases (case_id, payment_id, app_id, user_id, kind, subject)
   select 'cas_1', payment_id, app_id, user_id, 'kept', payment_id from payments.payments`,
  `update payments.refunds set state = 'declined'`,
  `update payments.checkouts set processor_checkout = 'at the processor'`,
  `update connections.connections set user_label = 'Me'`,
  `select connections.release(app_id, user_id) from connections.connections`,
];

/** A checkout that was paid, by a person with a passkey, whose refund is under way. */
export async function addPayment({ owner }: TestDatabase, user: EndUserId): Promise<void> {
  const of = [APP, user];
  await sql(owner)`insert into identities.identities (identity_id, email) values ('idn_1', 'e1.abc')`;
  await sql(owner)`insert into identities.passkeys (credential_id, identity_id, public_key, sign_count)
    values ('c', 'idn_1', '\\x01', 3)`;
  await owner.query(
    `insert into connections.connections (connection_id, app_id, user_id, identity_id) values ('con_1', $1, $2, 'idn_1')`,
    of,
  );
  await sql(owner)`insert into connections.alerts (connection_id, shares) values ('con_1', '{50}')`;
  await addCheckout(owner, user, 'chk_1');
  await owner.query(
    `insert into payments.payments (payment_id, checkout_id, app_id, user_id, processor, processor_payment, amount_micros, currency, state)
     values ('pay_1', 'chk_1', $1, $2, 'test', 'p', 5000000, 'EUR', 'credited')`,
    of,
  );
  await owner.query(
    `insert into payments.refunds (refund_id, payment_id, amount_micros, state, booked_as, processor, is_ours, app_id, user_id, request_key)
     values ('ref_1', 'pay_1', 1000000, 'asked', 'set_aside', 'test', true, $1, $2, 'r')`,
    of,
  );
}

export async function addCheckout(owner: TestDatabase['owner'], user: EndUserId, name: string): Promise<void> {
  await sql(owner)`
    insert into payments.checkouts (checkout_id, app_id, user_id, identity_id, amount_micros, currency, processor)
    values (${name}, ${APP}, ${user}, 'idn_1', 5000000, 'EUR', 'test')`;
}

/** What the ledger and other tables know of the users of the slot. */
export async function knownOf({ owner }: TestDatabase, slot: number): Promise<readonly unknown[]> {
  const wallets = (await selectMovingWallets(owner, slot)).map(
    ({ facts }) => JSON.parse(facts) as Record<string, unknown>,
  );
  const tables = [
    'connections.connections',
    'connections.alerts',
    'payments.checkouts',
    'payments.payments',
    'payments.refunds',
  ];
  const rows: unknown[] = [];
  for (const table of tables) rows.push((await owner.query(`select * from ${table} t order by t`)).rows);
  return [wallets, rows];
}

/** The balances of what `knownOf` gave. */
export const sumOf = ([wallets]: readonly unknown[]): bigint =>
  (wallets as readonly { readonly balance_micros: number }[]).reduce((sum, w) => sum + BigInt(w.balance_micros), 0n);

/** Who owns wallets in a cell. */
export async function ownersIn({ owner }: TestDatabase): Promise<readonly unknown[]> {
  return sql(owner)`select email, app_id from connections.connections join identities.identities using (identity_id)`;
}

/** A database that says that it is this cell, and nothing else. */
export function ofCell(cell: string): TestDatabase['owner'] {
  return { query: () => Promise.resolve({ rows: [{ cell }] }) } as unknown as TestDatabase['owner'];
}
