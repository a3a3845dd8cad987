import type { JsonObject } from '#kernel/text/json.ts';

/** What an answer needs of its request. It is kept for as long as a stream is open, so nothing large is in it. */
export interface Echo {
  /** The small settings of the request that a Response says again, as the caller wrote them: `temperature`, `tool_choice` and the like. */
  readonly settings: JsonObject;
  /** The tools that the model knows under another name or as another type, by the name of the function that stands for them. */
  readonly tools: ReadonlyMap<string, GivenTool>;
}

/** A tool as its caller gave it. */
export interface GivenTool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** How the ids of an answer are made. All of it is bound to the caller. */
export interface Sealing {
  /** Whether the caller may send the id of an item in its place: they did not say `store: false`. */
  readonly isStored: boolean;
  /** Whether an item at the end of a stream carries the others: the client sends ids of streamed items in their place. */
  readonly isCarried: boolean;
  /** An id that carries an item in the form of this wire. Undefined if the item is too large for an id. */
  readonly ofItem: (item: JsonObject) => string | undefined;
  /** The id of a carrier, from items by the short ids that they had in a stream. */
  readonly ofItems: (items: Readonly<Record<string, JsonObject>>) => string | undefined;
  /** Reasoning of a vendor who does not speak this wire, as an `encrypted_content`. Undefined if it is too large. */
  readonly ofThoughts: (details: readonly JsonObject[]) => string | undefined;
}
