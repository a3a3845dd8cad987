import type { RoleRow } from '#db/health/queries.ts';
import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';

/** Judges what the connections of the two lanes really are. `isEmbedded`: the server is ours alone, and its user is its superuser. */
export function judgeRoles(
  { live, sandbox, owner }: Readonly<Record<'live' | 'sandbox' | 'owner', RoleRow>>,
  isEmbedded: boolean,
): CheckResult {
  for (const [name, row] of [
    ['purser_live', live],
    ['purser_sandbox', sandbox],
  ] as const) {
    if (row.role !== name) return bad(`Connections that should run as ${name} run as ${row.role}.`);
    if (row.is_superuser) return bad(`The role ${name} is a superuser.`, `Run \`alter role ${name} nosuperuser\`.`);
    const unlimited = [row.statement_timeout, row.lock_timeout, row.idle_timeout].includes('0');
    if (unlimited) return bad(`Connections of ${name} have no time limits: something in between drops them.`);
  }
  if (live.changes_entries || sandbox.changes_entries)
    return bad('The roles of calls may change entries of the ledger.');
  if (sandbox.enters_ledger) return bad('The role of sandbox calls may enter the ledger.');
  if (!isEmbedded && owner.is_superuser) {
    return warn(
      'The user of DATABASE_URL is a superuser.',
      'Make a user that owns this database only, as docs/guides/operator/install.md says.',
    );
  }
  return good('Calls run as purser_live and purser_sandbox, with their limits and no more rights than they need.');
}
