import type { Actor, AuditEntry } from '#audit/entry.ts';
import {
  type AuditRow,
  selectAppEntries,
  selectOwnersEntries,
  selectSignIns,
  type SignInResult,
} from '#audit/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';
import { type AskedPage, readPage } from '#kernel/values/page.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';

/** One act, as the trail keeps it. */
export type Entry = Omit<AuditEntry, keyof Actor> & Actor & { readonly atMs: number };

interface Entries {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

/** The sign-ins of one minute, by one account or identity, from one address. */
interface SignIns {
  readonly minuteMs: number;
  /**
   * The account or identity. It is undefined if the e-mail has no account, or if too many sign-ins failed in this
   * minute to keep them apart.
   */
  readonly who: string | undefined;
  readonly result: SignInResult;
  readonly from: string | undefined;
  readonly count: number;
}

/** Reads the audit trail, the newest first. Pass `next` as `before` to get the page after it; undefined on the last one. */
export interface AuditReader {
  /** An owner's own acts: all of them, or those on one app. */
  readonly pageOf: (
    owner: { readonly accountId: AccountId; readonly appId: AppId | undefined },
    page: AskedPage,
  ) => Promise<Entries>;
  /** What all members of an app did with it: everything, or one kind of act. Their sign-ins and other apps are not in it. */
  readonly pageOfApp: (
    app: { readonly appId: AppId; readonly action: string | undefined },
    page: AskedPage,
  ) => Promise<Entries>;
  /** Reads sign-ins and failed attempts of one account or identity, or of everybody. */
  readonly signIns: (
    page: AskedPage & { readonly who: string | undefined },
  ) => Promise<{ readonly signIns: readonly SignIns[]; readonly next: string | undefined }>;
}

export function createAuditReader(pool: Pool): AuditReader {
  return {
    pageOf: (owner, page) => entriesOf(page, (asked) => selectOwnersEntries(pool, owner, asked)),
    pageOfApp: (app, page) => entriesOf(page, (asked) => selectAppEntries(pool, app, asked)),
    signIns: async ({ who, ...page }) => {
      const { rows, next } = await readPage(
        page,
        (asked) => selectSignIns(pool, { who, ...asked }),
        (last) => last.sign_in_id,
      );
      const signIns = rows.map(({ minute, who: whose, result, address, count }) => ({
        minuteMs: minute.getTime(),
        who: whose === '' ? undefined : whose,
        result,
        from: address === '' ? undefined : address,
        count,
      }));
      return { signIns, next };
    },
  };
}

async function entriesOf(page: AskedPage, read: Parameters<typeof readPage<AuditRow>>[1]): Promise<Entries> {
  const { rows, next } = await readPage(page, read, (last) => last.entry_id);
  return { entries: rows.map(entryOf), next };
}

/** An entry as readers of the trail get it. */
export function entryOf(row: AuditRow): Entry {
  return {
    atMs: row.at.getTime(),
    actor: row.actor,
    actorName: row.actor_name ?? undefined,
    from: row.address ?? undefined,
    action: row.action,
    subject: row.subject,
    reason: row.reason ?? undefined,
    amount: row.amount_micros === null ? undefined : microsSumFromRow(row.amount_micros),
    before: row.before ?? undefined,
    after: row.after ?? undefined,
  };
}
