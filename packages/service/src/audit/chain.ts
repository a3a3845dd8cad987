import { equalBytes, hmacSha256, sha256 } from '#kernel/crypto/crypto.ts';

/** An entry as its hash covers it: the texts that PostgreSQL gives for the columns. */
export interface ChainedEntry {
  readonly entry_id: bigint;
  /** Microseconds since 1970. */
  readonly at_us: bigint;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly account_id: string | null;
  readonly app_id: string | null;
  readonly amount_micros: bigint | null;
  /** The `jsonb` as text: numbers keep all their digits. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Where the chain ends, and which entries can have no new neighbour below them. */
export interface Head {
  readonly linkNo: bigint;
  readonly hash: Buffer;
  readonly settledEntry: bigint;
  readonly seenEntry: bigint;
  readonly seenXid: bigint;
  readonly seenMs: bigint;
}

/**
 * The hash of a link: SHA-256 over a JSON list of the link's number, the hash before it, and every column of the entry. The
 * network address is not among them: it is forgotten after 90 days.
 */
export function linkHash(linkNo: bigint, previous: Buffer, entry: ChainedEntry): Buffer {
  const { entry_id, at_us, actor, actor_name, action, subject, reason, account_id, app_id } = entry;
  const { amount_micros, before, after } = entry;
  const texts = [actor, actor_name, action, subject, reason, account_id, app_id];
  return sha256(
    JSON.stringify([
      'purser-audit-1',
      String(linkNo),
      previous.toString('hex'),
      String(entry_id),
      String(at_us),
      ...texts,
      amount_micros === null ? null : String(amount_micros),
      before,
      after,
    ]),
  );
}

/** The seal of a head. Nobody without `PURSER_SECRET` can make one: it opens `key`, which the database keeps for this purpose alone. */
export function sealOf(head: Head, key: Buffer): Buffer {
  const { linkNo, hash, settledEntry, seenEntry, seenXid, seenMs } = head;
  const numbers = [linkNo, settledEntry, seenEntry, seenXid, seenMs].map(String);
  return hmacSha256(key, JSON.stringify(['purser-audit-head-1', hash.toString('hex'), ...numbers]));
}

/** Returns true for the seal of this head under this secret, and for a chain that has not begun. */
export function isSealed(head: Head & { readonly seal: Buffer | null }, key: Buffer): boolean {
  if (head.seal === null) return head.linkNo === 0n && head.settledEntry === 0n && head.seenEntry === 0n;
  return equalBytes(head.seal, sealOf(head, key));
}
