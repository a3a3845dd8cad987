import assert from 'node:assert/strict';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import type { PaymentDesk } from '../../packages/service/src/operator/money/payment-desk.ts';
import type { CaseAct } from '../../packages/service/src/payments/cases/effects.ts';
import type { CaseWithEffects } from '../../packages/service/src/payments/overview/overview.ts';
import { APP } from './ledger-database.ts';
import type { PaymentsGround } from './payments.ts';
import { sql } from './sql.ts';

/** The operator who solves cases. */
export const BY = {
  actor: 'acct_operator',
  actorName: 'op@example.test',
  from: '127.0.0.1',
  reason: 'as agreed',
  limits: undefined,
};

export type Cases = ReturnType<typeof casesOn>;

/** Cases of payments on a ground without a service, and a person who solves them. */
export function casesOn(ground: PaymentsGround, desk: PaymentDesk) {
  async function casesOf(id: string): Promise<readonly CaseWithEffects[]> {
    return ((await desk.find(id))?.cases ?? []).filter(({ row }) => row.closed_at === null);
  }

  /** The only case that waits, and its kind. */
  async function caseOf(id: string, kind: string): Promise<CaseWithEffects> {
    const cases = await casesOf(id);
    assert.deepEqual(
      cases.map(({ row }) => row.kind),
      [kind],
    );
    return cases[0] as CaseWithEffects;
  }

  async function entriesOf(user: string): Promise<readonly unknown[]> {
    const rows = await sql<Record<string, unknown>>(ground.ledger)`
      select e.kind, e.debit, e.credit, e.amount_micros as amount
      from ledger.entries e join ledger.wallets w using (wallet_id) where w.user_id = ${user} order by e.seq`;
    return rows.map((row) => ({ ...row }));
  }

  async function standingOf(user: string) {
    const wallet = await ground.ledger.wallets.find(APP, user as EndUserId);
    return wallet && { balance: wallet.balance, shortfall: wallet.shortfall, isSuspended: wallet.isSuspended };
  }

  /** Solves a case twice at once, and asserts that the books did exactly what was shown before, once. */
  async function solve(user: string, { row, effects }: CaseWithEffects, act: CaseAct): Promise<void> {
    const shown = effects.find((effect) => effect.act === act);
    assert.ok(shown, act);
    assert.equal(shown.obstacle, undefined);
    assert.deepEqual(shown.before, await standingOf(user));
    const before = await entriesOf(user);
    const caseId = row.case_id;
    const both = await Promise.all([1, 2].map(() => desk.solve(BY, { caseId, act })));
    assert.deepEqual(both, ['solved', 'solved']);
    assert.deepEqual((await entriesOf(user)).slice(before.length), shown.entries);
    assert.deepEqual(await standingOf(user), shown.after);
    const other = await desk.solve(BY, { caseId, act: act === 'close' ? 'credit' : 'close' });
    assert.ok(other instanceof Refusal && other.code === 'CONFLICT');
    const rows = await sql<{ amount_micros: bigint | null; reason: string }>(ground.ledger)`
      select amount_micros, reason from audit.entries where action = 'payment.solve' and before ->> 'case' = ${row.kind}
      and subject = ${`${APP} ${user} ${row.payment_id}`} and after ->> 'solvedBy' = ${act}`;
    assert.deepEqual(rows.at(-1), { amount_micros: act === 'recover' ? null : shown.amount, reason: 'as agreed' });
  }

  /** What the payments of a wallet are followed by while nobody finds it: no booking of them is possible. */
  async function withoutWallet(user: string, happens: () => Promise<void>): Promise<void> {
    const { owner } = ground.ledger.database;
    const rename = (from: string, to: string) =>
      owner.query('update ledger.wallets set user_id = $2 where user_id = $1', [from, to]);
    await rename(user, `${user}-away`);
    await happens();
    await rename(`${user}-away`, user);
  }

  return { casesOf, caseOf, standingOf, solve, withoutWallet };
}
