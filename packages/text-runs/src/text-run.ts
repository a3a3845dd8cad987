/** Placeholders for the texts of a pattern. In ASCII, because V8 writes other strings at two bytes a character. */
const MARKS: readonly string[] = ['~~<text>~~', '~~<padding>~~'];

/** A chunk of which others in its stream differ in one or two texts only. */
export interface ChunkPattern<Chunk> {
  /** How many texts it has: the first is generated text, a second one is padding. */
  readonly textCount: number;
  /** The chunk with these texts in its places, as its reader gives chunks. */
  readonly withTexts: (texts: readonly string[]) => Chunk;
  /** A mark for each text, unlikely in any chunk, and the chunk with the marks for its texts: the same one for each taker. */
  readonly marks: readonly string[];
  readonly marked: () => Chunk;
}

export function patternOf<Chunk>(textCount: number, withTexts: ChunkPattern<Chunk>['withTexts']): ChunkPattern<Chunk> {
  const marks = MARKS.slice(0, textCount);
  let marked: Chunk | undefined;
  return { textCount, withTexts, marks, marked: () => (marked ??= withTexts(marks)) };
}

/** The text of events in a row, of which each has the number behind that of the one before it. */
export interface RunSource {
  readonly text: string;
  /** The number of the first. */
  readonly number: number;
}

/** One or more chunks in a row that equal an earlier chunk of their stream except for their texts. */
export class TextRun<Chunk> {
  /** The events as they came, if their template keeps that. */
  readonly source: RunSource | undefined;
  /** The same object for every run that follows from the same chunk, so that takers can cache by it. */
  readonly pattern: ChunkPattern<Chunk>;
  /** For each text of the pattern, its value in each chunk, escaped as JSON writes it between quotes. */
  readonly texts: readonly (readonly string[])[];
  /** The generated text of all chunks together. Padding does not count. */
  readonly said: string;
  /** The sizes of its pieces together, in bytes of UTF-8. */
  readonly bytes: number;

  constructor(
    pattern: ChunkPattern<Chunk>,
    texts: readonly (readonly string[])[],
    { said, bytes, source }: { readonly said: string; readonly bytes: number; readonly source?: RunSource | undefined },
  ) {
    this.source = source;
    this.pattern = pattern;
    this.texts = texts;
    this.said = said;
    this.bytes = bytes;
  }

  /** The chunks as parsing them would give them, but for a number that counts events: all have that of the pattern. */
  get chunks(): readonly Chunk[] {
    return (this.texts[0] ?? []).map((_, index) => this.#chunk(index));
  }

  get lastChunk(): Chunk {
    return this.#chunk((this.texts[0]?.length ?? 0) - 1);
  }

  #chunk(index: number): Chunk {
    return this.pattern.withTexts(this.texts.map((values) => unescaped(values[index] ?? '')));
  }
}

/** The text that JSON writes like this between quotes. */
export function unescaped(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
