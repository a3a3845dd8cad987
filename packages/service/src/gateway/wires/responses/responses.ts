import type { Wire } from '#gateway/call/wire.ts';
import { createRead } from '#gateway/wires/responses/request/read.ts';
import { createReply } from '#gateway/wires/responses/reply/reply.ts';
import { createSealedIds } from '#gateway/wires/responses/conversation/sealed-ids.ts';
import { withRemedyLink } from '#gateway/output/remedy-link.ts';
import type { Keys } from '#kernel/crypto/keys.ts';

/** The Responses interface of OpenAI, without a memory of its own (WI-04 to WI-07). */
export function createResponsesWire(keys: Keys): Wire {
  return {
    name: 'responses',
    path: '/v1/responses',
    takesLargeBodies: true,
    read: createRead({ sealedIds: createSealedIds(keys), replyOf: createReply }),
    worded: withRemedyLink,
  };
}
