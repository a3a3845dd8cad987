import { type AuditEntry, selectAuditEntries } from '#audit/queries.ts';
import type { Pool } from '#db/pool.ts';

/** Reads the audit trail: what operators did, the newest first. */
export interface AuditReader {
  /** A page of entries. Pass `next` as `before` to get the page after it; undefined on the last one. */
  readonly page: (page: { readonly before: string | undefined; readonly most: number }) => Promise<{
    readonly entries: readonly (AuditEntry & { readonly atMs: number })[];
    readonly next: string | undefined;
  }>;
}

export function createAuditReader(pool: Pool): AuditReader {
  return {
    page: async ({ before, most }) => {
      // One more than the page holds: only its presence shows that there is a next page.
      const asked = { before: before === undefined ? undefined : BigInt(before), most: most + 1 };
      const found = await selectAuditEntries(pool, asked);
      const rows = found.slice(0, most);
      return {
        entries: rows.map(({ at, reason, ...row }) => ({ ...row, reason: reason ?? undefined, atMs: at.getTime() })),
        next: found.length > most ? rows.at(-1)?.entry_id.toString() : undefined,
      };
    },
  };
}
