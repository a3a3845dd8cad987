import type { Reply } from '#gateway/call/wire.ts';
import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { overLimit } from '#gateway/wires/messages/reply/over-limit.ts';
import { plainReply } from '#gateway/wires/messages/reply/plain.ts';
import { createStreamReply, endFrames } from '#gateway/wires/messages/reply/stream.ts';

/** Writes the answer of one call as a Message, or as the events of one (WI-09). */
export function createMessagesReply(echo: Echo): Reply {
  return {
    plain: (call, completion, usage) => plainReply(call, completion, usage, echo),
    stream: (call) => createStreamReply(call, echo),
    refusalOfLowered: overLimit,
    endFrames,
  };
}
