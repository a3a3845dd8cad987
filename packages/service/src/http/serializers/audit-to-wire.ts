import { isoOf } from '#kernel/time/clock.ts';
import { microsToWire } from '#kernel/values/micros.ts';
import type { AuditReader, Entry } from '#operator/look-up/audit-reader.ts';
import type { AuditHead, AuditSearch } from '#operator/look-up/audit-search.ts';

/** A page of the audit trail on the wire, for owners. */
export function auditToWire({ entries, next }: Awaited<ReturnType<AuditReader['pageOf']>>) {
  return { entries: entries.map(entryToWire), next: next ?? null };
}

type FoundEntry = Awaited<ReturnType<AuditSearch['find']>>['entries'][number];

/** Converts entries for operators, who also see the chain. */
export function foundToWire({ entries, next }: Awaited<ReturnType<AuditSearch['find']>>) {
  return { entries: entries.map(foundEntryToWire), next: next ?? null };
}

/** One entry, as the list and the export have it. */
export function foundEntryToWire(entry: FoundEntry) {
  const { entryId, line, hash } = entry;
  return { entryId, ...entryToWire(entry), line: line ?? null, hash: hash ?? null };
}

function entryToWire(entry: Entry) {
  return {
    at: isoOf(entry.atMs),
    actor: entry.actor,
    actorName: entry.actorName ?? null,
    from: entry.from ?? null,
    action: entry.action,
    subject: entry.subject,
    reason: entry.reason ?? null,
    amountMicros: entry.amount === undefined ? null : microsToWire(entry.amount),
    before: entry.before === undefined ? null : { ...entry.before },
    after: entry.after === undefined ? null : { ...entry.after },
  };
}

export function headToWire({ line, hash, sealedAtMs, waiting }: AuditHead) {
  return {
    line: String(line),
    hash: hash ?? null,
    sealedAt: sealedAtMs === undefined ? null : isoOf(sealedAtMs),
    waiting,
  };
}

export function signInsToWire({ signIns, next }: Awaited<ReturnType<AuditReader['signIns']>>) {
  return {
    signIns: signIns.map(({ minuteMs, who, result, from, count }) => ({
      minute: isoOf(minuteMs),
      who: who ?? null,
      result,
      from: from ?? null,
      count,
    })),
    next: next ?? null,
  };
}
