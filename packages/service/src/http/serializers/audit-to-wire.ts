import { auditEntrySchema } from '@purser/contract/trail.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import type { AuditSearch } from '#operator/look-up/audit-trail.ts';

/** One entry of the audit trail with its line in the chain, as the file of operators has it. */
export function foundEntryToWire(entry: Awaited<ReturnType<AuditSearch['find']>>['entries'][number]) {
  const { entryId, line = null, hash = null } = entry;
  return { entryId, ...wireOf(auditEntrySchema, entry), line, hash };
}
