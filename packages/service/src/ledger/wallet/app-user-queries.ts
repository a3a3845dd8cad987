import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';

export interface AppUserRow {
  readonly user_id: EndUserId;
  readonly connected_at: Date;
  readonly cap_micros: bigint | null;
  readonly spent_this_month_micros: bigint;
  readonly is_cap_reached: boolean;
  readonly last_charged_at: Date | null;
}

const COLUMNS = `user_id, coalesce(first_connected_at, created_at) as connected_at, cap_micros, month.spent as spent_this_month_micros,
  cap_micros is not null and month.spent >= cap_micros as is_cap_reached, last.at as last_charged_at`;

/**
 * The month of the wallets `w`, and the newest charge of each: one probe of an index of receipts. The journal has the charges that
 * a wallet could not pay in full, so what is in it after that receipt is read too.
 */
const FACTS = `cross join lateral (
    select case when w.cap_month = db.current_month() then w.cap_spent_micros else 0 end as spent
  ) month
  left join lateral (
    select c.seq, c.settled_at as at from usage.calls c
    where c.wallet_id = w.wallet_id and c.seq is not null order by c.seq desc limit 1
  ) receipt on true
  cross join lateral (
    select coalesce((
      select j.at from ledger.journal j
      where j.wallet_id = w.wallet_id and j.seq > coalesce(receipt.seq, 0) and j.kind in ('charge', 'charge_receivable')
      order by j.seq desc limit 1
    ), receipt.at) as at
  ) last`;

/** No user id has a character as high as this one (AU-04). */
const ABOVE_ALL = '\u007f';

/**
 * Lists connected wallets of an app in the order of their user ids, a range of the index that has no others: a disconnected
 * one is not even read (WA-02). Users begin with `beginsWith` and come after `after`. Charges are looked up for the wallets of
 * the page only.
 */
export async function selectAppUsers(
  db: Queryable,
  page: { readonly appId: AppId; readonly beginsWith: string; readonly after: string; readonly most: number },
): Promise<readonly AppUserRow[]> {
  const from = `${page.appId} ${page.beginsWith}`;
  const { rows } = await db.query<AppUserRow>(
    `select ${COLUMNS} from (
       select * from ledger.wallets
       where app_id || ' ' || user_id >= $1 and app_id || ' ' || user_id < $2 and app_id || ' ' || user_id > $3
         and is_connected
       order by app_id || ' ' || user_id limit $4
     ) w ${FACTS}
     order by user_id`,
    [from, `${from}${ABOVE_ALL}`, `${page.appId} ${page.after}`, page.most],
  );
  return rows;
}

/**
 * Finds one user with a connected wallet, by the same index. What they spent in all is what came into the wallet, less what went
 * out for other reasons and what is left: so no receipt is read, however many there are. What a wallet owes for calls counts as spent.
 */
export async function selectAppUser(
  db: Queryable,
  appId: AppId,
  userId: EndUserId,
): Promise<(AppUserRow & { readonly spent_micros: bigint }) | undefined> {
  const { rows } = await db.query<AppUserRow & { readonly spent_micros: bigint }>(
    `select ${COLUMNS}, booked.net - w.balance_micros as spent_micros
     from ledger.wallets w ${FACTS}
     cross join lateral (
       select coalesce(sum(case when j.credit = 'wallet' or j.kind = 'charge_receivable' then j.amount_micros
         when j.debit = 'wallet' and j.kind <> 'charge' then -j.amount_micros end), 0)::bigint as net
       from ledger.journal j where j.wallet_id = w.wallet_id
     ) booked
     where w.app_id || ' ' || w.user_id = $1 and w.is_connected`,
    [`${appId} ${userId}`],
  );
  return rows[0];
}
