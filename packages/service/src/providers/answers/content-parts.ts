import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/**
 * A message or delta whose content came in parts, with the fields that clients of the format expect: what was said in `content`,
 * what was thought in `reasoning_content`, pictures in `images`. Mistral sends parts once a model thinks. Other messages are returned as
 * they are.
 */
export function withoutParts(message: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content) || !content.every(isKnown)) return message;
  // Nearly every message is a text, and copying the fields of each cost more than the look.
  const { content: _content, images, ...rest } = message;
  const said = content.filter(({ type }) => type === 'text').map(({ text }) => text);
  const thought = content.filter(({ type }) => type === 'thinking').flatMap(thoughtsOf);
  const pictures = [...(Array.isArray(images) ? images : []), ...content.filter(({ type }) => type === 'image_url')];
  return {
    ...rest,
    ...(pictures.length > 0 && { images: pictures.map(pictureOf) }),
    ...(thought.length > 0 && { reasoning_content: thought.join('') }),
    ...((said.length > 0 || thought.length === 0) && { content: said.join('') }),
  };
}

/** References name documents that the format has no field for. They say nothing themselves. */
function isKnown(part: unknown): part is JsonObject {
  if (!isJsonObject(part)) return false;
  const { type, text, thinking } = part;
  if (type === 'text') return typeof text === 'string';
  if (type === 'image_url') return urlOf(part) !== undefined;
  return type === 'thinking' ? Array.isArray(thinking) || typeof thinking === 'string' : type === 'reference';
}

function thoughtsOf({ thinking }: JsonObject): readonly string[] {
  if (typeof thinking === 'string') return [thinking];
  const parts: readonly unknown[] = Array.isArray(thinking) ? thinking : [];
  return parts.filter(isJsonObject).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** A picture as the format has it, with its place. Some providers write the address without its object. */
function pictureOf(picture: unknown, index: number): unknown {
  const url = isJsonObject(picture) ? urlOf(picture) : undefined;
  return url === undefined ? picture : { type: 'image_url', index, image_url: { url } };
}

function urlOf({ image_url: image }: JsonObject): string | undefined {
  const url = isJsonObject(image) ? image['url'] : image;
  return typeof url === 'string' ? url : undefined;
}
