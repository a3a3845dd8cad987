import { checkChain, type KnownHead } from '#audit/check-chain.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import { openKeptKeys } from '#db/identity/kept-keys.ts';
import type { Pool } from '#db/pool/pool.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { newKeptKey, type Secrets } from '#kernel/crypto/keys.ts';

const HEAD = /^(\d{1,18}):([0-9a-f]{64})$/;

/** Reads the head that `audit check` is to find, as the log and `/operator/audit/head` say it. Throws `UsageError`. */
export function readHead(head: string | undefined): KnownHead | undefined {
  if (head === undefined) return undefined;
  const [, linkNo, hash] = HEAD.exec(head) ?? [];
  if (linkNo === undefined || hash === undefined) {
    throw new UsageError('--head must be the number of a line, a colon, and its hash of 64 hexadecimal digits.');
  }
  return { linkNo: BigInt(linkNo), hash: Buffer.from(hash, 'hex') };
}

/** Walks the chain of the audit trail and prints what is wrong. Exit status 1 on any fault. */
export async function printAuditCheck(owner: Pool, secrets: Secrets, known: KnownHead | undefined): Promise<number> {
  const begunMs = steadyClock.nowMs();
  const opened = await openKeptKeys(owner, secrets, { isGateway: false });
  // Without the secret, the chain can still be checked. No seal is right under a key that was just made.
  const key = opened?.keys['audit-head'] ?? newKeptKey();
  const { links, head, faults, found, waiting, oldestMs, longestMs } = await checkChain(owner, key, known);
  const seconds = ((steadyClock.nowMs() - begunMs) / 1_000).toFixed(1);
  for (const fault of faults) console.log(fault);
  const hidden = found - BigInt(faults.length);
  if (hidden > 0n) console.log(`... and ${hidden} more`);
  console.log(`${links} lines, ${found} faults, ${seconds} s`);
  if (links > 0n) console.log(`the longest wait for a line was ${(Number(longestMs) / 1_000).toFixed(1)} s`);
  if (waiting > 0n) {
    console.log(`${waiting} entries wait for their line, the oldest for ${(Number(oldestMs) / 1_000).toFixed(1)} s`);
  }
  if (head !== undefined) console.log(`head ${head.linkNo}:${head.hash.toString('hex')}`);
  return found === 0n ? 0 : 1;
}
