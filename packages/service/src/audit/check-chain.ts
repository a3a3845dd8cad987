import { type LinkedRow, selectHead, selectLinks, selectLoose } from '#audit/chain-queries.ts';
import { type ChainedEntry, isSealed, linkHash } from '#audit/chain.ts';
import { inSnapshot, type Pool, type Queryable } from '#db/pool/pool.ts';

const LINKS_PER_PAGE = 1_000;
/** The first faults are shown; the others are counted. */
const FAULTS_MAX = 100;

/** A head that was written down before: the number of a line and its hash, such as from the log. */
export interface KnownHead {
  readonly linkNo: bigint;
  readonly hash: Buffer;
}

interface ChainCheck {
  /** Links, and where the chain ends by its head. */
  readonly links: bigint;
  readonly head: KnownHead | undefined;
  /** What is wrong, in the order of the chain, at most `FAULTS_MAX`. */
  readonly faults: readonly string[];
  readonly found: bigint;
  /** Entries that have no link yet, and for how long the oldest has waited. */
  readonly waiting: bigint;
  readonly oldestMs: bigint;
  /** The longest time between an entry and its link. */
  readonly longestMs: bigint;
}

/** Walks the whole chain in one snapshot and derives every hash again. Changes nothing. */
export function checkChain(pool: Pool, key: Buffer, known?: KnownHead): Promise<ChainCheck> {
  return inSnapshot(pool, (db) => check(db, key, known));
}

async function check(db: Queryable, key: Buffer, known: KnownHead | undefined): Promise<ChainCheck> {
  const faults = createFaults();
  const walk = createWalk(faults.add, known);
  let after: LinkedRow | undefined;
  for (let isMore = true; isMore; ) {
    const rows = await selectLinks(db, after, LINKS_PER_PAGE);
    for (const row of rows) walk.step(row);
    after = rows.at(-1);
    isMore = rows.length === LINKS_PER_PAGE;
  }
  const head = await selectHead(db);
  const end = walk.end();
  if (known !== undefined && end.linkNo < known.linkNo)
    faults.add(`line ${known.linkNo}, whose hash you gave, is gone`);
  const loose = await selectLoose(db, head?.settledEntry ?? 0n, FAULTS_MAX);
  for (const entry of loose.first) faults.add(`entry ${entry} was inserted: it has no line in the chain`);
  faults.count(loose.inserted - BigInt(loose.first.length));
  if (head === undefined) faults.add('the head of the chain is gone');
  else {
    if (head.linkNo !== end.linkNo)
      faults.add(`the chain ends at line ${end.linkNo}, and its head is line ${head.linkNo}`);
    else if (!head.hash.equals(end.hash))
      faults.add(`the last line, ${end.linkNo}, does not have the hash of the head`);
    if (!isSealed(head, key)) faults.add('the head of the chain is not sealed with this PURSER_SECRET');
  }
  return {
    links: end.links,
    head: head && { linkNo: head.linkNo, hash: head.hash },
    ...faults.all(),
    waiting: loose.waiting,
    oldestMs: loose.oldest_ms,
    longestMs: end.longestUs / 1_000n,
  };
}

type AddFault = (fault: string) => void;

/** Follows the links one by one. After a fault it goes on from what the link says, so that one fault is reported once. */
function createWalk(fault: AddFault, known: KnownHead | undefined) {
  let end: { linkNo: bigint; hash: Buffer } = { linkNo: 0n, hash: Buffer.alloc(32) };
  let links = 0n;
  let longestUs = 0n;

  function step(row: LinkedRow): void {
    const { link_no: linkNo, linked_entry: entryId, previous, hash } = row;
    if (linkNo < 1n) return fault(`line ${linkNo} is before the first line of the chain`);
    if (linkNo === end.linkNo) return fault(`line ${linkNo} is there more than once`);
    const isNext = linkNo === end.linkNo + 1n;
    if (!isNext) fault(`${nameOf(end.linkNo + 1n, linkNo - 1n)} removed`);
    if (!hasEntry(row)) fault(`entry ${entryId}, line ${linkNo}, was removed`);
    else if (!hash.equals(linkHash(linkNo, previous, row))) fault(`entry ${entryId}, line ${linkNo}, was changed`);
    else if (isNext && !previous.equals(end.hash))
      fault(`line ${linkNo} does not follow the line before it: one of them was written anew`);
    if (known?.linkNo === linkNo && !known.hash.equals(hash))
      fault(`line ${linkNo} does not have the hash that you gave: the chain was written anew`);
    if (hasEntry(row) && row.sealed_us - row.at_us > longestUs) longestUs = row.sealed_us - row.at_us;
    links += 1n;
    end = { linkNo, hash };
  }

  return { step, end: () => ({ ...end, links, longestUs }) };
}

function nameOf(first: bigint, last: bigint): string {
  return first === last ? `line ${first} of the chain was` : `lines ${first} to ${last} of the chain were`;
}

function hasEntry(row: LinkedRow): row is LinkedRow & ChainedEntry {
  return row.at_us !== null;
}

function createFaults() {
  const faults: string[] = [];
  let found = 0n;
  return {
    add: (fault: string): void => {
      found += 1n;
      if (faults.length < FAULTS_MAX) faults.push(fault);
    },
    count: (more: bigint): void => {
      found += more;
    },
    all: () => ({ faults, found }),
  };
}
