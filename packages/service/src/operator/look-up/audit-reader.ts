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
import { microsSumFromRow } from '#kernel/values/micros.ts';

/** One act, as the trail keeps it. */
export type Entry = Omit<AuditEntry, keyof Actor> & Actor & { readonly atMs: number };

interface Page {
  readonly before: string | undefined;
  readonly most: number;
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
    page: Page,
  ) => Promise<{ readonly entries: readonly Entry[]; readonly next: string | undefined }>;
  /** What all members of an app did with it: everything, or one kind of act. Their sign-ins and other apps are not in it. */
  readonly pageOfApp: (
    app: { readonly appId: AppId; readonly action: string | undefined },
    page: Page,
  ) => Promise<{ readonly entries: readonly Entry[]; readonly next: string | undefined }>;
  /** Reads sign-ins and failed attempts of one account or identity, or of everybody. */
  readonly signIns: (
    page: Page & { readonly who: string | undefined },
  ) => Promise<{ readonly signIns: readonly SignIns[]; readonly next: string | undefined }>;
}

export function createAuditReader(pool: Pool): AuditReader {
  return {
    pageOf: async (owner, page) => pageOf(await selectOwnersEntries(pool, owner, asked(page)), page),
    pageOfApp: async (app, page) => pageOf(await selectAppEntries(pool, app, asked(page)), page),
    signIns: async ({ who, ...page }) => {
      const found = await selectSignIns(pool, { who, ...asked(page) });
      const rows = found.slice(0, page.most);
      return {
        signIns: rows.map(({ minute, who: whose, result, address, count }) => ({
          minuteMs: minute.getTime(),
          who: whose === '' ? undefined : whose,
          result,
          from: address === '' ? undefined : address,
          count,
        })),
        next: found.length > page.most ? rows.at(-1)?.sign_in_id.toString() : undefined,
      };
    },
  };
}

/** One more than the page holds: only its presence shows that there is a next page. */
function asked({ before, most }: Page) {
  return { before: before === undefined ? undefined : BigInt(before), most: most + 1 };
}

function pageOf(found: readonly AuditRow[], { most }: Page) {
  const rows = found.slice(0, most);
  return {
    entries: rows.map(entryOf),
    next: found.length > most ? rows.at(-1)?.entry_id.toString() : undefined,
  };
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
