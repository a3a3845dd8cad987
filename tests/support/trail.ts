import type { Person } from './control.ts';

/** A line of the audit trail, without its time. */
export interface TrailLine {
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
}

/** A line as the API shows it. */
export interface FullLine extends TrailLine {
  readonly at: string;
  readonly actorName: string | null;
  readonly from: string | null;
  readonly amountMicros: number | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** The trail's entries about a subject, the newest first. */
export async function trailOf(operator: Person, subject: string): Promise<readonly TrailLine[]> {
  const { entries } = (await operator.get(200, 'GET', '/operator/audit?limit=500')) as {
    entries: (TrailLine & { at: string })[];
  };
  return entries
    .filter((entry) => entry.subject === subject && entry.action !== 'app.create') // The owner's own act.
    .map(({ actor, action, reason }) => ({ actor, action, subject, reason }));
}

export async function idOf(person: Person): Promise<string> {
  const { account } = (await person.get(200, 'GET', '/sessions/current')) as { account: { accountId: string } };
  return account.accountId;
}
