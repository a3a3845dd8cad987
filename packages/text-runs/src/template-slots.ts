/** A text with slots that can be filled again and again. */
export interface TemplateSlots {
  /** The text before the first slot, between slots, and behind the last one. */
  readonly literals: readonly string[];
  /** For each slot in the order of the text, the index of the value that belongs there. */
  readonly order: readonly number[];
}

/** Makes a slot of each mark in `text`. Undefined if a mark is missing or occurs twice: then its place is not certain. */
export function slotsOf(text: string, marks: readonly string[]): TemplateSlots | undefined {
  const places = marks.map((mark, index) => ({ index, at: text.indexOf(mark), length: mark.length }));
  if (places.some(({ index, at }) => at === -1 || at !== text.lastIndexOf(marks[index] ?? ''))) return undefined;
  places.sort((one, other) => one.at - other.at);
  const ends = [0, ...places.map(({ at, length }) => at + length)];
  const literals = ends.map((end, slot) => text.slice(end, places[slot]?.at));
  return { literals, order: places.map(({ index }) => index) };
}

/**
 * Fills the slots several times and joins the results. `values` has, for each index of `order`, one value for each time.
 * It uses `join`, which copies the pieces of many chunks into one string. Adding them up would copy them twice.
 */
export function fillSlots(slots: TemplateSlots, values: readonly (readonly string[])[]): string {
  const { literals, order } = slots;
  const first = literals[0] ?? '';
  const last = literals[order.length] ?? '';
  const onlyValues = values[0] ?? [];
  const fillings = order.length === 1 ? onlyValues : onlyValues.map((_, time) => innerText(slots, values, time));
  return first + (fillings.length === 1 ? fillings[0] : fillings.join(last + first)) + last;
}

/** The text from the first slot to the last one, filled for one time. */
function innerText({ literals, order }: TemplateSlots, values: readonly (readonly string[])[], time: number): string {
  let text = '';
  for (const [slot, index] of order.entries())
    text += (slot === 0 ? '' : literals[slot]) + (values[index]?.[time] ?? '');
  return text;
}
