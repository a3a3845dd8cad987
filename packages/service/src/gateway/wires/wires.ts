import type { Wire } from '#gateway/call/wire.ts';
import { chatWire } from '#gateway/wires/chat/chat.ts';
import { embeddingsWire } from '#gateway/wires/embeddings/embeddings.ts';
import { messagesWire } from '#gateway/wires/messages/messages.ts';
import { createResponsesWire } from '#gateway/wires/responses/responses.ts';
import type { Keys } from '#kernel/crypto/keys.ts';

/** Makes the wires that are served. A new one is a folder beside this file, and a line here. */
export function createWires(keys: Keys): readonly Wire[] {
  return [chatWire, createResponsesWire(keys), messagesWire, embeddingsWire];
}
