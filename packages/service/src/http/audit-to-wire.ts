import { isoOf } from '#kernel/clock.ts';
import { microsToWire } from '#kernel/micros.ts';
import type { AuditReader } from '#operator/audit.ts';

/** A page of the audit trail on the wire, for operators and owners alike. */
export function auditToWire({ entries, next }: Awaited<ReturnType<AuditReader['page']>>) {
  return {
    entries: entries.map((entry) => ({
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
    })),
    next: next ?? null,
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
