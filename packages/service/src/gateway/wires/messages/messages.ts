import type { Wire } from '#gateway/call/wire.ts';
import { errorOf } from '#gateway/wires/messages/reply/error-body.ts';
import { createRead } from '#gateway/wires/messages/request/read.ts';
import { createMessagesReply } from '#gateway/wires/messages/reply/reply.ts';

const PATH = '/v1/messages';

/** The Messages interface of Anthropic (WI-08 to WI-10). Its error bodies hold the link to the remedy, so a refusal needs no words. */
export const messagesWire: Wire = {
  name: 'messages',
  path: PATH,
  takesLargeBodies: true,
  takesKeyHeader: true,
  read: createRead({ replyOf: createMessagesReply }),
  worded: (refusal) => refusal,
  errorOf,
  counting: { path: `${PATH}/count_tokens`, read: createRead({ replyOf: createMessagesReply, isCounting: true }) },
};
