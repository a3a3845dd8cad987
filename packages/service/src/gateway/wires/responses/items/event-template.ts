import { slotsOf, type TemplateSlots } from '@purser/text-runs/template-slots.ts';

/** A frame with slots. The first value is the sequence number, and the texts of the frame follow. */
export type FrameTemplate = TemplateSlots;

/** What stands in the place of the sequence number while a template is made. Its quotes go with it. */
export const SEQUENCE_MARK = '~~{sequence}~~';

/** Makes a template of a frame that was written with marks, of which some may be left out. Undefined if their places are not certain. */
export function templateOf(frame: string, marks: readonly string[]): FrameTemplate | undefined {
  const places = marks.flatMap((mark, place) => (frame.includes(mark) ? [place] : []));
  const slots = slotsOf(frame, [`"${SEQUENCE_MARK}"`, ...places.map((place) => marks[place] ?? '')]);
  const order = slots?.order.map((value) => (value === 0 ? 0 : (places[value - 1] ?? 0) + 1));
  return slots && order && { ...slots, order };
}

/** Returns a frame for each text, in one string. `texts` has, for each text of the template, its value in each frame. */
export function fillTemplate(
  { literals, order }: FrameTemplate,
  texts: readonly (readonly string[])[],
  sequence: number,
): string {
  const times = texts[0]?.length ?? 0;
  let frames = '';
  for (let time = 0; time < times; time += 1) {
    for (let slot = 0; slot < order.length; slot += 1) {
      const value = order[slot] ?? 0;
      frames += literals[slot];
      frames += value === 0 ? sequence + time : (texts[value - 1]?.[time] ?? '');
    }
    frames += literals[order.length] ?? '';
  }
  return frames;
}
