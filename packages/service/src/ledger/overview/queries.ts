import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';

export interface AppUserRow {
  readonly user_id: EndUserId;
  readonly connected_at: Date;
  readonly cap_micros: bigint | null;
  readonly spent_this_month_micros: bigint;
  readonly is_cap_reached: boolean;
  readonly last_charged_at: Date | null;
}

const APP_USER = `user_id, coalesce(first_connected_at, created_at) as connected_at, cap_micros, month.spent as spent_this_month_micros,
  cap_micros is not null and month.spent >= cap_micros as is_cap_reached, ledger.last_charge(w.wallet_id) as last_charged_at`;

/** The month of the wallets `w`. */
const MONTH = `cross join lateral (
    select case when w.cap_month = db.current_month() then w.cap_spent_micros else 0 end as spent
  ) month`;

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
    `select ${APP_USER} from (
       select * from ledger.wallets
       where app_id || ' ' || user_id >= $1 and app_id || ' ' || user_id < $2 and app_id || ' ' || user_id > $3
         and is_connected
       order by app_id || ' ' || user_id limit $4
     ) w ${MONTH}
     order by user_id`,
    [from, `${from}${ABOVE_ALL}`, `${page.appId} ${page.after}`, page.most],
  );
  return rows;
}

const BOOKED = `cross join lateral (
    select coalesce(sum(case when j.credit = 'wallet' or j.kind = 'charge_receivable' then j.amount_micros
      when j.debit = 'wallet' and j.kind <> 'charge' then -j.amount_micros end), 0)::bigint as net
    from ledger.journal j where j.wallet_id = w.wallet_id
  ) booked`;

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
    `select ${APP_USER}, booked.net - w.balance_micros as spent_micros
     from ledger.wallets w ${MONTH} ${BOOKED}
     where w.app_id || ' ' || w.user_id = $1 and w.is_connected`,
    [`${appId} ${userId}`],
  );
  return rows[0];
}

export interface SpentRow {
  readonly user_id: EndUserId;
  /** When a call was last charged. It is null if no call was charged in this database. */
  readonly last_charged_at: Date | null;
  readonly spent_micros: bigint;
}

/** What users of an app spent in this database, also those whose wallet has left it. */
export async function selectSpent(
  db: Queryable,
  appId: AppId,
  users: readonly EndUserId[],
): Promise<readonly SpentRow[]> {
  const { rows } = await db.query<SpentRow>(
    `select w.user_id, ledger.last_charge(w.wallet_id) as last_charged_at, booked.net - w.balance_micros as spent_micros
     from ledger.wallets w ${BOOKED}
     where w.app_id = $1 and w.user_id = any ($2::text[])`,
    [appId, users],
  );
  return rows;
}
