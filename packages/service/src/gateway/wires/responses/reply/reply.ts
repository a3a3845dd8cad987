import type { Reply } from '#gateway/call/wire.ts';
import type { Echo, Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import { plainReply } from '#gateway/wires/responses/reply/plain.ts';
import { createStreamReply, endFrames } from '#gateway/wires/responses/reply/stream.ts';

/** Writes the answer of one call as a Response, or as the events of one (WI-06). */
export function createReply(echo: Echo, sealing: Sealing): Reply {
  return {
    plain: (call, completion, usage) => plainReply(call, { completion, usage }, { echo, sealing }),
    stream: (call) => createStreamReply(call, echo, sealing),
    endFrames,
  };
}
