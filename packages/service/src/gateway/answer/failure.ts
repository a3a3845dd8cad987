import { refusalOfUpstream, type UpstreamRefusalCode } from '#gateway/answer/refusals.ts';
import type { AskingCall, CallerSide } from '#gateway/call/call.ts';
import type { Ending, Hold, Lane } from '#gateway/call/lane.ts';
import type { Mode } from '#kernel/ids.ts';
import { describeFault } from '#kernel/log.ts';
import type { Refusal } from '#kernel/refusal.ts';
import { UpstreamError } from '#providers/provider.ts';

interface FailedCall<M extends Mode> {
  readonly hold: Hold<M>;
  /** What the call is charged in spite of the failure. */
  readonly ending: Ending;
  readonly caller: CallerSide;
  /** What was asked, so that a rejection is remembered (CC-15). A stream has noted it when it opened, and let it go. */
  readonly asking?: AskingCall;
}

/**
 * Ends a plain or streamed call that failed, and returns the refusal that its caller gets. Throws the fault again if the
 * provider is not to blame for it. Throws the settlement's fault if the hold could not be ended.
 */
export async function endFailed<M extends Mode>(
  lane: Lane<M>,
  { hold, ending, caller, asking }: FailedCall<M>,
  fault: unknown,
): Promise<Refusal<UpstreamRefusalCode>> {
  if (asking !== undefined) caller.rejections.note(lane.mode, asking, fault);
  if (fault instanceof UpstreamError) logFailure(hold, caller, fault);
  await lane.settle(hold, ending, 'always');
  if (!(fault instanceof UpstreamError)) throw fault;
  return refusalOfUpstream(fault);
}

function logFailure<M extends Mode>({ mode, call }: Hold<M>, { gone, log }: CallerSide, fault: UpstreamError): void {
  const isGone = gone.aborted;
  if (mode === 'sandbox' && !isGone) return; // The caller asked for this failure.
  const facts = { callId: call.callId, kind: fault.kind, isGone, fault: describeFault(fault) };
  log.warn(facts, call.isStream ? 'a stream ended early' : 'the provider failed a call');
}
