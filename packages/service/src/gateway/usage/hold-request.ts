import { ceilingOf, outputWithin } from '#catalogue/price.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import type { HoldRequest } from '#kernel/hold.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, micros } from '#kernel/micros.ts';

/** Every hold sets at least this aside, so that none is empty and the smallest cap refuses every call (WA-07, SB-06). */
const HOLD_MIN = micros(2n);

/**
 * What the call asks of its wallet: the smallest hold worth having and the most that it can cost. Between the two, a smaller
 * hold means less output. `joined`: the earlier call that this one waits for already.
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

/** The output limit of each choice that a hold affords. It is sent to the provider (WA-07). */
export function outputTokensWithin(call: ChatCall, granted: Micros): number {
  const { model, outputTokensMax, choices, prompt } = call;
  return Math.floor(outputWithin(model.price, prompt.tokensMax, outputTokensMax * choices, granted) / choices);
}
