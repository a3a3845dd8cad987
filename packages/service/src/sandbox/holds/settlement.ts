import { recordArrayOf } from '#db/records/array-literal.ts';
import type { CallSession } from '#kernel/calls/call-session.ts';
import type { CallId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** How a sandbox call ended: its charge, and the tokens to add to the test user's counter (0 when it was not answered). */
export interface SandboxSettlement {
  readonly callId: CallId;
  readonly charge: Micros;
  readonly tokens: number;
  /** The session that its client names (CP-19). */
  readonly session?: CallSession | undefined;
  /** Tells whether the answer has not been kept. If a retry waits for it, the call is not ended yet (CC-14). */
  readonly isUnkept?: boolean;
}

/** Settlements as the database takes them: the type `sandbox.settlement`. */
export const sandboxSettlementRecords = recordArrayOf<SandboxSettlement>({
  call_id: 'callId',
  charge_micros: 'charge',
  tokens: 'tokens',
  is_unkept: ({ isUnkept }) => isUnkept === true,
});
