/** A text with gaps: what is around each of them, and which text belongs into which. */
export interface Gaps {
  readonly around: readonly string[];
  /** For each gap, from the first on, the number of its text. */
  readonly order: readonly number[];
}

/** The gaps that are where the marks stand; undefined where one of them stands nowhere, or twice. */
export function gapsOf(text: string, marks: readonly string[]): Gaps | undefined {
  const places = marks.map((mark, index) => ({ index, at: text.indexOf(mark), length: mark.length }));
  if (places.some(({ index, at }) => at === -1 || at !== text.lastIndexOf(marks[index] ?? ''))) return undefined;
  places.sort((one, other) => one.at - other.at);
  const ends = [0, ...places.map(({ at, length }) => at + length)];
  const around = ends.map((end, gap) => text.slice(end, places[gap]?.at));
  return { around, order: places.map(({ index }) => index) };
}

/**
 * The text filled several times, one behind the other. `texts`: for each number of a gap, what it is filled with each time.
 * By `join`, since it puts the pieces of many chunks into one memory, where adding them up would do so twice.
 */
export function filled({ around, order }: Gaps, texts: readonly (readonly string[])[]): string {
  const first = around[0] ?? '';
  const last = around[order.length] ?? '';
  const only = texts[0] ?? [];
  const lines = order.length === 1 ? only : only.map((_, time) => lineOf({ around, order }, texts, time));
  return first + (lines.length === 1 ? lines[0] : lines.join(last + first)) + last;
}

/** What stands between the first and the last of what is around. */
function lineOf({ around, order }: Gaps, texts: readonly (readonly string[])[], time: number): string {
  let line = '';
  for (const [gap, index] of order.entries()) line += (gap === 0 ? '' : around[gap]) + (texts[index]?.[time] ?? '');
  return line;
}
