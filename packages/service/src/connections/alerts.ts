import { claimAlerts, deleteAlerts, lockConnection, selectAlerts, upsertAlerts } from '#connections/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { AppId, ConnectionId, IdentityId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { repeat } from '#kernel/time/repeat.ts';

/** The shares of a monthly cap that an owner can have mails about, in percent. 100: less than one percent is left. */
export const ALERT_SHARES: readonly number[] = [50, 80, 100];

interface Owner {
  readonly identityId: IdentityId;
  readonly connectionId: ConnectionId;
}

/** Which shares of their cap owners want mails about. None at first. */
export interface CapAlerts {
  /** The shares in percent, the lowest first. */
  readonly find: (connectionId: ConnectionId) => Promise<readonly number[]>;
  /** Sets them. None ends the mails. False when the identity has no such connection. */
  readonly set: (owner: Owner, shares: readonly number[]) => Promise<boolean>;
}

export function createCapAlerts(pool: Pool): CapAlerts {
  return {
    find: (connectionId) => selectAlerts(pool, connectionId),
    set: (owner, shares) =>
      inTransaction(pool, async (tx) => {
        if ((await lockConnection(tx, owner)) === undefined) return false;
        const kept = ALERT_SHARES.filter((share) => shares.includes(share));
        await (kept.length === 0 ? deleteAlerts(tx, owner.connectionId) : upsertAlerts(tx, owner.connectionId, kept));
        return true;
      }),
  };
}

/** A share of a cap that was spent, for the mail about it. */
interface CapAlert {
  readonly identityId: IdentityId;
  readonly connectionId: ConnectionId;
  readonly appId: AppId;
  readonly share: number;
  readonly spent: Micros;
  readonly cap: Micros;
  readonly currency: string;
}

/** Stores the mail in the transaction that marks its share as told. */
export type TellOwner = (tx: Queryable, alert: CapAlert) => Promise<void>;

const PERIOD_MS = 30_000;
/** Mails in one transaction. */
const AT_ONCE = 100;

interface AlertsOptions {
  readonly pool: Pool;
  readonly tell: TellOwner;
  readonly log: Log;
}

/**
 * Looks every thirty seconds for shares that were spent. Every process may run it: a share of a month is told by one of them
 * alone. It reads wallets with alerts only, outside the transactions of calls, so a call costs the same with and without them.
 */
export function startCapAlerts({ pool, tell, log }: AlertsOptions): { readonly stop: () => Promise<void> } {
  return repeat(async () => {
    try {
      await sendCapAlerts(pool, tell);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'alerts could not be sent and will be tried again');
    }
  }, PERIOD_MS);
}

/** One pass. Mails and marks are stored together or not at all, so a process that dies in between has told nobody. */
export async function sendCapAlerts(pool: Pool, tell: TellOwner): Promise<void> {
  let told = AT_ONCE;
  while (told === AT_ONCE) {
    told = await inTransaction(pool, async (tx) => {
      const rows = await claimAlerts(tx, AT_ONCE);
      for (const row of rows) {
        await tell(tx, {
          identityId: row.identity_id,
          connectionId: row.connection_id,
          appId: row.app_id,
          share: row.share,
          spent: microsSumFromRow(row.spent),
          cap: microsFromRow(row.cap),
          currency: row.currency,
        });
      }
      return rows.length;
    });
  }
}
