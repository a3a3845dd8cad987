import { makeMonth } from '../../packages/service/src/ledger/months/queries.ts';
import type { LedgerDatabase } from './ledger-database.ts';
import { sqlValue } from './sql.ts';

export const monthName = (at: Date): string => at.toISOString().slice(0, 7);

/** The table of a month, `2026-01`. */
export const tableOfMonth = (month: string): string => `usage.calls_${month.replace('-', '_')}`;

/** Makes months as if the service had begun in an earlier one. There must be no receipts yet. */
export async function beginMonths({ database, live }: LedgerDatabase, first: string): Promise<void> {
  await database.owner.query(
    `do $$
     declare
       part text;
     begin
       for part in select ledger.receipts_of(m.month) from ledger.months m loop
         execute format('drop table %s', part);
       end loop;
       delete from ledger.months;
       create table ${tableOfMonth(first)} partition of usage.calls for values from (minvalue) to ('$1');
       create unique index on ${tableOfMonth(first)} (wallet_id, seq) where seq is not null;
       insert into ledger.months (month, before_call) values ('${first}-01', '$1');
     end $$`.replaceAll('$1', await firstCallAfter(database.owner, first)),
  );
  while (await makeMonth(live));
}

async function firstCallAfter(owner: LedgerDatabase['database']['owner'], month: string): Promise<string> {
  const call = await sqlValue<string>(owner)`
    select ledger.first_call((${`${month}-01`}::date + interval '1 month')::date) as call`;
  return call ?? '';
}
