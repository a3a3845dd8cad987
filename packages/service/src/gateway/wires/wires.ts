import type { Wire } from '#gateway/call/wire.ts';
import { chatWire } from '#gateway/wires/chat/chat.ts';

/** The wires that are served. A new one is a folder beside this file, and a line here. */
export const WIRES: readonly Wire[] = [chatWire];
