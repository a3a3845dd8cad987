import type { JsonObject } from '#kernel/text/json.ts';

const HELD = /^data:image\/([\w.+-]{1,40});base64,/;
const FORMATS: ReadonlyMap<string | undefined, string> = new Map(
  ['png', 'webp', 'jpeg', 'gif'].map((format) => [format, format]),
);

/** A picture that a model made, as the item that this wire has for one, without an id. Undefined if it is only linked: the item holds its picture. */
export function pictureItem(address: string): JsonObject | undefined {
  const head = HELD.exec(address);
  if (head === null) return undefined;
  const format = FORMATS.get(head[1]);
  const described = format === undefined ? {} : { output_format: format };
  return {
    type: 'image_generation_call',
    status: 'completed',
    ...described,
    result: address.slice(head[0].length),
  };
}

/** An item as an id carries it: without its picture, which is larger than an id may be and goes back to no model. */
export function carriedItem(item: JsonObject): JsonObject {
  return item['type'] === 'image_generation_call' ? { ...item, result: null } : item;
}
