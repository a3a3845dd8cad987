import type { JsonObject } from '#kernel/json.ts';

/** A chunk without usage of which others differ in their texts alone: in what its only delta says, and in what pads it. */
export interface Pattern {
  /** How many texts it has: the first is what is said, a second one the padding. */
  readonly places: number;
  readonly withTexts: (texts: readonly string[]) => JsonObject;
}

/** Chunks in a row, one at least, that are an earlier one of their stream with other texts. */
export class MoreText {
  /** The same for all that are like one. */
  readonly pattern: Pattern;
  /** For each place, its text in each of the chunks: as JSON writes it, without its quotes. */
  readonly texts: readonly (readonly string[])[];
  /** What is said has so many, all together. */
  readonly bytes: number;

  constructor(pattern: Pattern, texts: readonly (readonly string[])[], bytes: number) {
    this.pattern = pattern;
    this.texts = texts;
    this.bytes = bytes;
  }

  /** The chunks as they would have been parsed. */
  get chunks(): readonly JsonObject[] {
    return (this.texts[0] ?? []).map((_, time) => this.#chunk(time));
  }

  get lastChunk(): JsonObject {
    return this.#chunk((this.texts[0]?.length ?? 0) - 1);
  }

  #chunk(time: number): JsonObject {
    return this.pattern.withTexts(this.texts.map((ofPlace) => unquoted(ofPlace[time] ?? '')));
  }
}

/** What a text means that JSON has between quotes. */
export function unquoted(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
