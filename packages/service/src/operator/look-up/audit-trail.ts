import type { Actor, AuditEntry } from '#audit/entry.ts';
import { type AuditRow, selectAppEntries, selectOwnersEntries, selectSignIns } from '#audit/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type AskedPage, readPage } from '#kernel/values/page.ts';
import { microsSumFromRow } from '#kernel/values/micros.ts';
import { selectEnd } from '#audit/chain-queries.ts';
import { type EntryFilter, type FoundEntry, selectFoundEntries } from '#audit/search-queries.ts';

/** One act, as the trail keeps it. */
export type Entry = Omit<AuditEntry, keyof Actor> & Actor & { readonly atMs: number };

interface Entries {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

/** Reads the audit trail, the newest first. Pass `next` as `before` to get the page after it; undefined on the last one. */
export type AuditReader = ReturnType<typeof createAuditReader>;

export function createAuditReader(pool: Pool) {
  return {
    /** An owner's own acts: all of them, or those on one app. */
    pageOf: (owner: Parameters<typeof selectOwnersEntries>[1], page: AskedPage) =>
      entriesOf(page, (asked) => selectOwnersEntries(pool, owner, asked)),
    /** What all members of an app did with it: everything, or one kind of act. Their sign-ins and other apps are not in it. */
    pageOfApp: (app: Parameters<typeof selectAppEntries>[1], page: AskedPage) =>
      entriesOf(page, (asked) => selectAppEntries(pool, app, asked)),
    /** Reads sign-ins and failed attempts of one account or identity, or of everybody. */
    signIns: async ({ who, ...page }: AskedPage & { readonly who: string | undefined }) => {
      const { rows, next } = await readPage(
        page,
        (asked) => selectSignIns(pool, { who, ...asked }),
        (last) => last.sign_in_id,
      );
      return { signIns: rows.map(signInsOf), next };
    },
  };
}

/**
 * The sign-ins of one minute, by one account or identity, from one address. `who` is undefined if the e-mail has no account, or if too many
 * sign-ins failed in this minute to keep them apart.
 */
function signInsOf({ minute, who, result, address, count }: Awaited<ReturnType<typeof selectSignIns>>[number]) {
  return { minuteMs: minute.getTime(), who: who || undefined, result, from: address || undefined, count };
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

export type { EntryFilter } from '#audit/search-queries.ts';

/** Reads the trail for operators (CP-05, CP-09). */
export type AuditSearch = ReturnType<typeof createAuditSearch>;

const BATCH = 1_000;

export function createAuditSearch(pool: Pool) {
  return {
    /** A page of the entries that fit, the newest first. Pass `next` as `before` to get the page after it. */
    find: async (filter: EntryFilter, page: AskedPage) => {
      const { rows, next } = await readPage(
        page,
        (asked) => selectFoundEntries(pool, filter, asked),
        (last) => last.entry_id,
      );
      return { entries: rows.map(foundOf), next };
    },
    /** All entries that fit, the newest first, read in batches as they are taken: one batch is in memory. */
    all: async function* (filter: EntryFilter) {
      let before: bigint | undefined;
      do {
        const rows = await selectFoundEntries(pool, filter, { before, most: BATCH });
        yield rows.map(foundOf);
        before = rows.length === BATCH ? rows.at(-1)?.entry_id : undefined;
      } while (before !== undefined);
    },
    /** The end of the chain. The hash is undefined while it has no line; `waiting` counts entries that have none yet. */
    head: async () => {
      const { link_no: line, hash, sealed_at: sealedAt, waiting } = await selectEnd(pool);
      return {
        line,
        hash: line === 0n ? undefined : hash.toString('hex'),
        sealedAtMs: sealedAt?.getTime(),
        waiting: Number(waiting),
      };
    },
  };
}

function foundOf(row: FoundEntry) {
  return {
    ...entryOf(row),
    entryId: String(row.entry_id),
    appId: row.app_id ?? undefined,
    line: row.link_no === null ? undefined : String(row.link_no),
    hash: row.hash?.toString('hex'),
  };
}
