import type { Pool } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { type CallHoldRow, selectEntriesOfCall, selectHoldOfCall } from '#ledger/history/call-queries.ts';
import type { EntryRow } from '#ledger/history/queries.ts';

/** What a call did to the books. */
export interface CallBooks {
  /** The hold of the call. It is undefined unless the call runs. */
  readonly hold: CallHoldRow | undefined;
  readonly entries: readonly EntryRow[];
}

/** Reads what a live call did to the books, in two statements by index. */
export function createCallBooks(pool: Pool): (callId: CallId) => Promise<CallBooks> {
  return async (callId) => {
    const [hold, entries] = await Promise.all([selectHoldOfCall(pool, callId), selectEntriesOfCall(pool, callId)]);
    return { hold, entries };
  };
}
