import type { JsonObject } from '#kernel/text/json.ts';

/** Where something is in a body: a message, a block of it, and a block within that. -1 in place of a message is `system`. */
export type Place = readonly [message: number, block?: number, inner?: number];

export const SYSTEM = -1;

/** A message of chat completions, and where it was in the body. */
export interface Message {
  readonly message: JsonObject;
  readonly origin: Origin;
}

interface Origin {
  readonly place: Place;
  /** The blocks that the parts of the content are. Empty if the content is a text. */
  readonly parts: readonly Place[];
  /** The blocks that the tool calls are. */
  readonly calls: readonly Place[];
}

/** A place as its caller writes it. Places are numbers until a refusal shows one. */
export function pathOf([message, block, inner]: Place): string {
  if (message === SYSTEM) return block === undefined ? 'system' : `system[${block}]`;
  const ofBlock = block === undefined ? '' : `.content[${block}]`;
  return `messages[${message}]${ofBlock}${inner === undefined ? '' : `.content[${inner}]`}`;
}
