import { ceilingOf, outputWithin } from '#catalogue/price.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import type { HoldRequest } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, micros } from '#kernel/micros.ts';

/** At least this is set aside, so that no hold is empty and the smallest cap refuses every call (WA-07, SB-06). */
const HOLD_MIN = micros(2n);

/**
 * What the call asks of its wallet: the smallest hold worth having and the largest that it can cost. Between them, less
 * hold means less output. `joined`: the earlier attempt that it waits for already.
 */
export function holdRequestOf(call: ChatCall, joined?: CallId): HoldRequest {
  const { callId, app, userId, model, outputTokensMax, choices, prompt } = call;
  const leastOutput = Math.min(model.minOutputTokens, outputTokensMax);
  const least = ceilingOf(model.price, prompt.tokensMax, leastOutput * choices);
  const most = ceilingOf(model.price, prompt.tokensMax, outputTokensMax * choices);
  const streamsMax = call.isStream ? app.limits.maxStreamsPerUser : 0;
  const idempotencyKey = call.idempotencyKey && { ...call.idempotencyKey, ...(joined && { joined }) };
  const range = { least: atLeastMinimum(least), most: atLeastMinimum(most) };
  return { callId, appId: app.appId, userId, ...range, streamsMax, idempotencyKey };
}

function atLeastMinimum(amount: Micros): Micros {
  return amount > HOLD_MIN ? amount : HOLD_MIN;
}

/** The output limit of each choice that a hold affords: what is sent to the provider (WA-07). */
export function outputTokensWithin(call: ChatCall, granted: Micros): number {
  const { model, outputTokensMax, choices, prompt } = call;
  return Math.floor(outputWithin(model.price, prompt.tokensMax, outputTokensMax * choices, granted) / choices);
}
