import type { Wire } from '#gateway/call/wire.ts';
import { createRead } from '#gateway/wires/responses/read.ts';
import { createReply } from '#gateway/wires/responses/reply.ts';
import { createSealedIds } from '#gateway/wires/responses/sealed-ids.ts';
import type { Keys } from '#kernel/keys.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** The Responses interface of OpenAI, without a memory of its own (WI-04 to WI-07). */
export function createResponsesWire(keys: Keys): Wire {
  return {
    name: 'responses',
    path: '/v1/responses',
    takesLargeBodies: true,
    read: createRead({ sealedIds: createSealedIds(keys), replyOf: createReply }),
    worded: withLink,
  };
}

/** The clients of this wire show the message of an error and nothing beside it, so it holds the link to the remedy (WI-07). */
function withLink(refusal: Refusal): Refusal {
  const { code, message, detail } = refusal;
  const { topupUrl } = detail;
  return topupUrl === undefined ? refusal : refuse(code, `${message} ${topupUrl}`, detail);
}
