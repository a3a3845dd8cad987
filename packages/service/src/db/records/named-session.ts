import { recordArrayOf } from '#db/records/array-literal.ts';
import type { CallSession } from '#kernel/calls/call-session.ts';
import type { CallId } from '#kernel/values/ids.ts';

interface Ended {
  readonly callId: CallId;
  readonly session?: CallSession | undefined;
}

/** Writes the sessions of calls as records of the type `db.named_session`, in the order of its attributes. For real and play money. */
export const sessionRecords = recordArrayOf<Ended>({
  call_id: ({ callId }) => callId,
  name: ({ session }) => session?.name,
  client: ({ session }) => session?.client,
  wire: ({ session }) => session?.wire,
});

/** The sessions of those calls that name one. Null if none does, which nearly all do not: then nothing is looked for. */
export function namedSessions(ended: readonly Ended[]): string | null {
  const named = ended.filter(({ session }) => session !== undefined);
  return named.length === 0 ? null : sessionRecords(named);
}
