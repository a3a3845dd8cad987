import {
  insertLinks,
  type Link,
  lockHead,
  type SealedHead,
  selectMoment,
  selectSealing,
  selectUnlinked,
  updateHead,
} from '#audit/chain-queries.ts';
import { type ChainedEntry, type Head, isSealed, linkHash, sealOf } from '#audit/chain.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { counter } from '#kernel/metrics/metrics.ts';
import { repeat } from '#kernel/time/repeat.ts';

const PERIOD_MS = 1_000;
/** How long after an entry the ones below it may be left out of the search. A statement takes at most five seconds. */
const SETTLE_MS = 60_000;
const ENTRIES_PER_PASS = 500;
/** The head is in the log at most this often, and again at the next stop. */
const PUBLISH_MS = 60_000;

const linked = counter(
  'purser_audit_links_total',
  'Entries of the audit trail that this process has put into the chain.',
);
const failed = counter(
  'purser_audit_seal_failures_total',
  'Passes over the audit trail that failed, or found its head changed.',
);

/** The head was changed by somebody without the secret. */
class HeadFault extends Error {}

interface SealerOptions {
  readonly pool: Pool;
  /** The key that is used for the head of the chain alone. */
  readonly key: Buffer;
  readonly clock: SteadyClock;
  readonly log: Log;
}

/**
 * Gives every committed entry its link, a second after its act (decision 71). Every process runs one; the row lock of the head
 * lets one of them work at a time, and no act waits for it. A pass that dies leaves nothing, and the next one goes on.
 */
export function startSealer({ pool, key, clock, log }: SealerOptions): { readonly stop: () => Promise<void> } {
  let newest: Ended = { linkNo: 0n, hash: Buffer.alloc(0) };
  let published = { linkNo: 0n, atMs: Number.NEGATIVE_INFINITY };
  let complained = { why: '', atMs: 0 };

  function publish(isLast: boolean): void {
    const isEarly = !isLast && clock.nowMs() - published.atMs < PUBLISH_MS;
    if (newest.linkNo === published.linkNo || isEarly) return;
    published = { linkNo: newest.linkNo, atMs: clock.nowMs() };
    log.info(
      { line: String(newest.linkNo), hash: newest.hash.toString('hex') },
      'the audit trail is sealed up to this line',
    );
  }

  /** Complains once a minute and not each second, because the fault lasts until a person looks. */
  function complain(why: string): void {
    failed.add();
    if (complained.why === why && clock.nowMs() - complained.atMs < PUBLISH_MS) return;
    complained = { why, atMs: clock.nowMs() };
    log.error({ why }, 'THE AUDIT TRAIL WAS CHANGED: run `purser audit check`');
  }

  async function seal(): Promise<void> {
    const found = await selectSealing(pool, SETTLE_MS);
    if (found === undefined) return complain('the head of the chain is gone');
    // Also after a failover that lost the last commits. The chain goes on from there, and this line is the trace of it.
    if (found.linkNo < newest.linkNo) complain(`the chain ended at line ${newest.linkNo}, and now at ${found.linkNo}`);
    newest = found;
    for (let isMore = found.isDue; isMore; ) {
      const sealed = await sealEntries(pool, key);
      linked.add(sealed.links);
      newest = sealed.head ?? newest;
      ({ isMore } = sealed);
    }
  }

  async function pass(isLast = false): Promise<void> {
    try {
      await seal();
      publish(isLast);
    } catch (fault) {
      if (fault instanceof HeadFault) return complain(fault.message);
      failed.add();
      log.warn({ fault: describeFault(fault) }, 'the audit trail could not be sealed');
    }
  }

  const passes = repeat(pass, PERIOD_MS);
  return {
    stop: async () => {
      await passes.stop();
      await pass(true);
    },
  };
}

type Ended = Pick<Head, 'linkNo' | 'hash'>;

interface Sealed {
  readonly links: number;
  /** The head of the chain. It is undefined when another process was sealing. */
  readonly head: Head | undefined;
  /** True if more entries wait. */
  readonly isMore: boolean;
}

/** Puts the next entries into the chain, in one transaction. Throws, and changes nothing, if the seal of the head is wrong. */
export async function sealEntries(
  pool: Pool,
  key: Buffer,
  settleMs = SETTLE_MS,
  most = ENTRIES_PER_PASS,
): Promise<Sealed> {
  return inTransaction(pool, async (tx) => {
    const head = await lockHead(tx);
    if (head === undefined) return { links: 0, head: undefined, isMore: false };
    if (!isSealed(head, key)) throw new HeadFault('the head of the chain is not sealed with this PURSER_SECRET');
    const moment = await selectMoment(tx); // Before the entries are read: those of transactions that have ended by now are among them.
    const entries = await selectUnlinked(tx, head.settledEntry, most);
    const { links, hash } = linksAfter(head, entries);
    if (links.length > 0) await insertLinks(tx, links);
    const isMore = entries.length === most;
    const next = {
      ...(isMore ? head : settled(head, moment, settleMs)),
      linkNo: head.linkNo + BigInt(links.length),
      hash,
    };
    await updateHead(tx, next, sealOf(next, key));
    return { links: links.length, head: next, isMore };
  });
}

/** The chain goes on from the head, never from the last link: links that were taken off its end leave a gap for good. */
function linksAfter(
  head: Head,
  entries: readonly ChainedEntry[],
): { readonly links: readonly Link[]; readonly hash: Buffer } {
  let { linkNo, hash: previous } = head;
  const links = entries.map((entry) => {
    linkNo += 1n;
    const link = { linkNo, entryId: entry.entry_id, previous, hash: linkHash(linkNo, previous, entry) };
    previous = link.hash;
    return link;
  });
  return { links, hash: previous };
}

/**
 * Numbers of entries are given out before their transactions commit, so an entry may appear below others that have a link. Once
 * every transaction that ran when an entry was seen has ended, and a minute has passed, none can appear below it any more. A
 * number without an entry is one whose transaction was rolled back.
 */
function settled(head: SealedHead, moment: Awaited<ReturnType<typeof selectMoment>>, settleMs: number): Head {
  const { xmin, xmax, now_ms: nowMs, last_entry: lastEntry } = moment;
  // After a move to another server, its transactions are numbered anew.
  const isOfThisServer = head.seenXid <= xmax;
  const hasSettled = isOfThisServer && xmin >= head.seenXid && nowMs - head.seenMs >= BigInt(settleMs);
  if (isOfThisServer && !hasSettled && head.seenEntry > head.settledEntry) return head;
  return {
    ...head,
    settledEntry: hasSettled ? head.seenEntry : head.settledEntry,
    seenEntry: lastEntry,
    seenXid: xmax,
    seenMs: nowMs,
  };
}

/** Seals the head as it is. For `purser secret replace`. */
export async function resealHead(tx: Queryable, key: Buffer): Promise<void> {
  const head = await lockHead(tx);
  if (head !== undefined && head.seal !== null) await updateHead(tx, head, sealOf(head, key));
}
