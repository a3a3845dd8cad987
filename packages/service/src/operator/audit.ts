import { type AuditEntry, selectAuditEntries } from '#audit/queries.ts';
import type { Pool } from '#db/pool.ts';

/** What operators did, the newest first. */
export interface AuditReader {
  /** `next`: hand it back as `before` for the page after this; undefined on the last one. */
  readonly page: (page: { readonly before: string | undefined; readonly most: number }) => Promise<{
    readonly entries: readonly (AuditEntry & { readonly atMs: number })[];
    readonly next: string | undefined;
  }>;
}

export function createAuditReader(pool: Pool): AuditReader {
  return {
    page: async ({ before, most }) => {
      const rows = await selectAuditEntries(pool, { before: before === undefined ? undefined : BigInt(before), most });
      const last = rows.length === most ? rows.at(-1) : undefined;
      return {
        entries: rows.map(({ at, reason, ...row }) => ({ ...row, reason: reason ?? undefined, atMs: at.getTime() })),
        next: last?.entry_id.toString(),
      };
    },
  };
}
