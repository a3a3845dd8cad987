import { selectEnd } from '#audit/chain-queries.ts';
import { type EntryFilter, type FoundEntry, selectFoundEntries } from '#audit/search-queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type AskedPage, readPage } from '#kernel/values/page.ts';
import { entryOf } from '#operator/look-up/audit-reader.ts';

export type { EntryFilter } from '#audit/search-queries.ts';

type Found = ReturnType<typeof foundOf>;

/** The end of the chain. */
interface AuditHead {
  readonly line: bigint;
  /** The hash of the last line. It is undefined while the chain has no line. */
  readonly hash: string | undefined;
  readonly sealedAtMs: number | undefined;
  /** Entries that have no line yet. */
  readonly waiting: number;
}

/** Reads the trail for operators (CP-05, CP-09). */
export interface AuditSearch {
  /** A page of the entries that fit, the newest first. Pass `next` as `before` to get the page after it. */
  readonly find: (
    filter: EntryFilter,
    page: AskedPage,
  ) => Promise<{ readonly entries: readonly Found[]; readonly next: string | undefined }>;
  /** All entries that fit, the newest first, read in batches as they are taken: one batch is in memory. */
  readonly all: (filter: EntryFilter) => AsyncGenerator<readonly Found[]>;
  readonly head: () => Promise<AuditHead>;
}

const BATCH = 1_000;

export function createAuditSearch(pool: Pool): AuditSearch {
  return {
    find: async (filter, page) => {
      const { rows, next } = await readPage(
        page,
        (asked) => selectFoundEntries(pool, filter, asked),
        (last) => last.entry_id,
      );
      return { entries: rows.map(foundOf), next };
    },
    all: async function* (filter) {
      let before: bigint | undefined;
      do {
        const rows = await selectFoundEntries(pool, filter, { before, most: BATCH });
        yield rows.map(foundOf);
        before = rows.length === BATCH ? rows.at(-1)?.entry_id : undefined;
      } while (before !== undefined);
    },
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
