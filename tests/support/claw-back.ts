import type { TestDatabase } from './database.ts';

/** Takes money out of a wallet as a claw-back does, below what its holds count on, with the entry that says so. */
export async function clawBack({ owner }: TestDatabase, user: string, amount: number): Promise<void> {
  await owner.query(
    `with wallet as (
       update ledger.wallets set balance_micros = balance_micros - $2, entry_seq = entry_seq + 1,
         is_clawed = held_micros > balance_micros - $2
       where user_id = $1 returning wallet_id, entry_seq, balance_micros
     )
     insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
     select wallet_id, entry_seq, 'claw_back', 'claw_back:' || wallet_id || ':' || entry_seq, 'wallet', 'processor',
       $2, balance_micros from wallet`,
    [user, amount],
  );
}
