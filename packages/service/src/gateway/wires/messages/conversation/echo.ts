/** What an answer needs of its request. It is kept for as long as a stream is open, so nothing large is in it. */
export interface Echo {
  /** The name of the model, as the caller wrote it. */
  readonly model: string;
  readonly stopSequences: readonly string[];
  /** Whether the caller asked for thoughts, and for their text. Undefined if they did not ask. */
  readonly thinking?: 'shown' | 'hidden' | undefined;
  /** The caller's names of tools that the model knows by a shorter one. */
  readonly toolNames?: ReadonlyMap<string, string> | undefined;
}
