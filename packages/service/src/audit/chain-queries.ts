import type { ChainedEntry, Head } from '#audit/chain.ts';
import { plainArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';

/** The columns that a hash covers. A test compares them with the table. */
const ENTRY = `e.entry_id, (extract(epoch from e.at) * 1000000)::bigint as at_us, e.actor, e.actor_name, e.action, e.subject,
  e.reason, e.account_id, e.app_id, e.amount_micros, e.before::text as before, e.after::text as after`;

interface HeadRow {
  readonly link_no: bigint;
  readonly hash: Buffer;
  readonly settled_entry: bigint;
  readonly seen_entry: bigint;
  readonly seen_xid: bigint;
  readonly seen_ms: bigint;
  readonly seal: Buffer | null;
}

export type SealedHead = Head & { readonly seal: Buffer | null };

const HEAD = 'select link_no, hash, settled_entry, seen_entry, seen_xid, seen_ms, seal from audit.head';

function headOf(row: HeadRow): SealedHead {
  return {
    linkNo: row.link_no,
    hash: row.hash,
    settledEntry: row.settled_entry,
    seenEntry: row.seen_entry,
    seenXid: row.seen_xid,
    seenMs: row.seen_ms,
    seal: row.seal,
  };
}

/** The head, or undefined when the row is gone. */
export async function selectHead(db: Queryable): Promise<SealedHead | undefined> {
  const { rows } = await db.query<HeadRow>(HEAD);
  return rows[0] && headOf(rows[0]);
}

/** The head, locked until the transaction ends. Undefined while another process has it, or when it is gone. */
export async function lockHead(tx: Queryable): Promise<SealedHead | undefined> {
  const { rows } = await tx.query<HeadRow>(`${HEAD} for update skip locked`);
  return rows[0] && headOf(rows[0]);
}

export async function updateHead(tx: Queryable, head: Head, seal: Buffer): Promise<void> {
  await tx.query(
    `update audit.head set link_no = $1, hash = $2, settled_entry = $3, seen_entry = $4, seen_xid = $5, seen_ms = $6,
       seal = $7`,
    [head.linkNo, head.hash, head.settledEntry, head.seenEntry, head.seenXid, head.seenMs, seal],
  );
}

/** Whether an entry waits for its link, and the head. One statement a second in every process, on indexes only. */
export async function selectSealing(
  db: Queryable,
  settleMs: number,
): Promise<(Pick<Head, 'linkNo' | 'hash'> & { readonly isDue: boolean }) | undefined> {
  const { rows } = await db.query<{ is_due: boolean; link_no: bigint; hash: Buffer }>(
    `select h.link_no, h.hash, (
       exists (
         select from audit.entries e
         where e.entry_id > h.settled_entry and not exists (select from audit.links l where l.entry_id = e.entry_id)
       )
       -- Later the entries seen then can be left out of this search.
       or (select max(entry_id) from audit.entries) > h.settled_entry
         and h.seen_ms < extract(epoch from clock_timestamp()) * 1000 - $1
     ) as is_due
     from audit.head h`,
    [settleMs],
  );
  return rows[0] && { isDue: rows[0].is_due, linkNo: rows[0].link_no, hash: rows[0].hash };
}

/** The transactions that run now, the database's time and the last entry. */
export async function selectMoment(
  tx: Queryable,
): Promise<{ readonly xmin: bigint; readonly xmax: bigint; readonly now_ms: bigint; readonly last_entry: bigint }> {
  const { rows } = await tx.query<{ xmin: bigint; xmax: bigint; now_ms: bigint; last_entry: bigint }>(
    `select pg_snapshot_xmin(s)::text::bigint as xmin, pg_snapshot_xmax(s)::text::bigint as xmax,
       (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
       (select coalesce(max(entry_id), 0) from audit.entries) as last_entry
     from pg_current_snapshot() s`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which transactions run.');
  return row;
}

/** Entries without a link, the lowest first. */
export async function selectUnlinked(
  tx: Queryable,
  settledEntry: bigint,
  most: number,
): Promise<readonly ChainedEntry[]> {
  const { rows } = await tx.query<ChainedEntry>(
    `select ${ENTRY} from audit.entries e
     where e.entry_id > $1 and not exists (select from audit.links l where l.entry_id = e.entry_id)
     order by e.entry_id limit $2`,
    [settledEntry, most],
  );
  return rows;
}

export interface Link {
  readonly linkNo: bigint;
  readonly entryId: bigint;
  readonly previous: Buffer;
  readonly hash: Buffer;
}

export async function insertLinks(tx: Queryable, links: readonly Link[]): Promise<void> {
  await tx.query(
    `insert into audit.links (link_no, entry_id, previous, hash)
     select n, e, decode(p, 'hex'), decode(h, 'hex') from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as l (n, e, p, h)`,
    [
      plainArray(links.map(({ linkNo }) => linkNo)),
      plainArray(links.map(({ entryId }) => entryId)),
      plainArray(links.map(({ previous }) => previous.toString('hex'))),
      plainArray(links.map(({ hash }) => hash.toString('hex'))),
    ],
  );
}

/** A link with its entry. The columns of the entry are null when it is gone. */
export type LinkedRow = Omit<ChainedEntry, 'at_us'> & {
  readonly at_us: bigint | null;
  readonly link_no: bigint;
  readonly linked_entry: bigint;
  readonly previous: Buffer;
  readonly hash: Buffer;
  readonly sealed_us: bigint;
};

/**
 * Links in the order of their numbers, from the lowest or after another one. Numbers that no chain has, and one that two links have,
 * are among them: a link that nobody reads would hide an entry.
 */
export async function selectLinks(
  db: Queryable,
  after: Pick<LinkedRow, 'link_no' | 'linked_entry'> | undefined,
  most: number,
): Promise<readonly LinkedRow[]> {
  const { rows } = await db.query<LinkedRow>(
    `select l.link_no, l.entry_id as linked_entry, l.previous, l.hash,
       (extract(epoch from l.sealed_at) * 1000000)::bigint as sealed_us, ${ENTRY}
     from audit.links l left join audit.entries e on e.entry_id = l.entry_id
     where $1::bigint is null or (l.link_no, l.entry_id) > ($1, $2) order by l.link_no, l.entry_id limit $3`,
    [after?.link_no ?? null, after?.linked_entry ?? null, most],
  );
  return rows;
}

/** How many entries wait for their link, for how long the oldest has waited, and those that can have none any more. */
export async function selectLoose(
  db: Queryable,
  settledEntry: bigint,
  most: number,
): Promise<{
  readonly waiting: bigint;
  readonly oldest_ms: bigint;
  readonly inserted: bigint;
  readonly first: readonly string[];
}> {
  const { rows } = await db.query<{ waiting: bigint; oldest_ms: bigint; inserted: bigint; first: readonly string[] }>(
    `with loose as (
       select e.entry_id, e.at from audit.entries e where not exists (select from audit.links l where l.entry_id = e.entry_id)
     )
     select count(*) filter (where entry_id > $1) as waiting,
       coalesce((extract(epoch from clock_timestamp() - min(at) filter (where entry_id > $1)) * 1000)::bigint, 0) as oldest_ms,
       count(*) filter (where entry_id <= $1) as inserted,
       (select coalesce(array_agg(entry_id::text order by entry_id), '{}') from (
         select entry_id from loose where entry_id <= $1 order by entry_id limit $2) as low) as first
     from loose`,
    [settledEntry, most],
  );
  return rows[0] ?? { waiting: 0n, oldest_ms: 0n, inserted: 0n, first: [] };
}

interface EndRow {
  readonly link_no: bigint;
  readonly hash: Buffer;
  readonly sealed_at: Date | null;
  readonly waiting: bigint;
}

/** The end of the chain by its head, and how many entries wait for their link. Throws if the head is gone. */
export async function selectEnd(db: Queryable): Promise<EndRow> {
  const { rows } = await db.query<EndRow>(
    `select h.link_no, h.hash, (select l.sealed_at from audit.links l where l.link_no = h.link_no) as sealed_at, (
       select count(*) from audit.entries e
       where e.entry_id > h.settled_entry and not exists (select from audit.links l where l.entry_id = e.entry_id)
     ) as waiting
     from audit.head h`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The head of the audit trail is gone.');
  return row;
}
