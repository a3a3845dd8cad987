import { recordArrayOf } from '#db/record-literal.ts';
import type { CallId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';

/** How a sandbox call ended: its charge, and the tokens that the test user's counter grows by (0: not answered). */
export interface SandboxSettlement {
  readonly callId: CallId;
  readonly charge: Micros;
  readonly tokens: number;
  /** Its answer is not kept: while a retry waits for that, the call is not ended (CC-14). */
  readonly isUnkept?: boolean;
}

/** Settlements as the database takes them: the type `sandbox.settlement`. */
export const sandboxSettlementRecords = recordArrayOf<SandboxSettlement>({
  call_id: ({ callId }) => callId,
  charge_micros: ({ charge }) => charge,
  tokens: ({ tokens }) => tokens,
  is_unkept: ({ isUnkept }) => isUnkept === true,
});
