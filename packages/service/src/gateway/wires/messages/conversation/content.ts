import type { ValueFault } from '#gateway/parameters/values.ts';
import { isFault } from '#gateway/wires/messages/conversation/faults.ts';
import { pathOf, type Place } from '#gateway/wires/messages/conversation/places.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Parts of chat completions, and the blocks that they were. */
export interface Parts {
  readonly parts: JsonObject[];
  readonly places: Place[];
}

export function noParts(): Parts {
  return { parts: [], places: [] };
}

/** Content as chat completions have it. One text without a mark stays a text, because some servers take nothing else. */
export function contentOf({ parts }: Parts): unknown {
  const [only] = parts;
  const isText = parts.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined;
  return isText ? only['text'] : parts;
}

/** What tools that run at a vendor have left in a conversation. It says nothing to another model. */
export const PASSED_OVER = /^(?:server_tool_use|mcp_tool_use|container_upload|fallback|\w+_tool_result)$/;

/** Adds what a block says to the parts of a message. What is in the block is checked as a part of chat completions. */
export function addBlock(block: JsonObject, place: Place, { parts, places }: Parts): ValueFault | undefined {
  const { type } = block;
  if (typeof type === 'string' && type !== 'tool_result' && PASSED_OVER.test(type)) return undefined;
  const marked = markOf(block, place);
  if (isFault(marked)) return marked;
  const read = readBlock(block, place);
  if (isFault(read)) return read;
  for (const [index, part] of read.entries()) {
    parts.push(index === read.length - 1 ? { ...part, ...marked } : part);
    places.push(place);
  }
  return undefined;
}

function readBlock(block: JsonObject, place: Place): readonly JsonObject[] | ValueFault {
  switch (block['type']) {
    case 'text':
      if (typeof block['text'] !== 'string') return { path: `${pathOf(place)}.text`, expects: 'a string' };
      return [{ type: 'text', text: block['text'] }];
    case 'image':
      return imageOf(block['source'], place);
    case 'document':
      return documentOf(block, place);
    case 'search_result':
      return searchResultOf(block, place);
    case 'tool_reference':
      return nameOfTool(block, place);
    default:
      return {
        path: `${pathOf(place)}.type`,
        expects:
          '"text", "image", "document", "tool_use", "tool_result" or "thinking": other blocks have no price here',
      };
  }
}

function imageOf(source: unknown, place: Place): readonly JsonObject[] | ValueFault {
  const path = `${pathOf(place)}.source`;
  if (!isJsonObject(source)) return { path, expects: 'an object: an image in base64, or its address' };
  const { type, media_type: mediaType, data, url } = source;
  if (type === 'url') return [{ type: 'image_url', image_url: { url } }];
  if (type !== 'base64') {
    return { path: `${path}.type`, expects: '"base64" or "url": no files are kept here, so send the image itself' };
  }
  if (typeof mediaType !== 'string') return { path: `${path}.media_type`, expects: 'the type, such as "image/png"' };
  if (typeof data !== 'string') return { path: `${path}.data`, expects: 'the image in base64' };
  return [{ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }];
}

/** A document as text. A PDF or a file has no bound on its tokens, and so no hold that covers them (WA-07). */
function documentOf({ source, title, context }: JsonObject, place: Place): readonly JsonObject[] | ValueFault {
  const path = `${pathOf(place)}.source`;
  if (!isJsonObject(source)) return { path, expects: 'an object: the text of a document' };
  const { type, data, content } = source;
  const head = [title, context].filter((text) => typeof text === 'string' && text !== '');
  const heads = head.map((text) => ({ type: 'text', text }));
  if (type === 'text') {
    if (typeof data !== 'string') return { path: `${path}.data`, expects: 'a string: the text of the document' };
    return [...heads, { type: 'text', text: data }];
  }
  if (type === 'content') {
    const said = typeof content === 'string' ? [{ type: 'text', text: content }] : textsOf(content, `${path}.content`);
    return isFault(said) ? said : [...heads, ...said];
  }
  return {
    path: `${path}.type`,
    expects: '"text" or "content": PDFs and files have no price here, so send their text, or their pages as images',
  };
}

function searchResultOf({ title, source, content }: JsonObject, place: Place): readonly JsonObject[] | ValueFault {
  const said = textsOf(content, `${pathOf(place)}.content`);
  if (isFault(said)) return said;
  const heads = [title, source].filter((text) => typeof text === 'string' && text !== '');
  return [...heads.map((text) => ({ type: 'text', text })), ...said];
}

/** What a search for tools has found. The tool itself is among those of the request. */
function nameOfTool({ tool_name: name }: JsonObject, place: Place): readonly JsonObject[] | ValueFault {
  if (typeof name !== 'string') return { path: `${pathOf(place)}.tool_name`, expects: 'the name of a tool' };
  return [{ type: 'text', text: name }];
}

function textsOf(list: unknown, path: string): readonly JsonObject[] | ValueFault {
  if (!Array.isArray(list)) return { path, expects: 'an array of text blocks' };
  const blocks: readonly unknown[] = list;
  const place = blocks.findIndex(
    (block) => !isJsonObject(block) || (block['type'] ?? 'text') !== 'text' || typeof block['text'] !== 'string',
  );
  if (place !== -1) return { path: `${path}[${place}]`, expects: 'a text block' };
  return (blocks as readonly JsonObject[]).map(({ text }) => ({ type: 'text', text }));
}

const TTLS = new Set<unknown>([undefined, null, '5m', '1h']);

/** The mark for a cache that a block has, without what is not priced. */
export function markOf({ cache_control: mark }: JsonObject, place: Place): JsonObject | ValueFault {
  return mark === undefined || mark === null ? {} : readMark(mark, () => `${pathOf(place)}.cache_control`);
}

export function readMark(mark: unknown, path: () => string): JsonObject | ValueFault {
  if (!isJsonObject(mark) || mark['type'] !== 'ephemeral' || !TTLS.has(mark['ttl'])) {
    return { path: path(), expects: '`{"type": "ephemeral"}`, with a `ttl` of "5m" or "1h" if you want one' };
  }
  const { type, ttl } = mark;
  return { cache_control: { type, ...(typeof ttl === 'string' ? { ttl } : {}) } };
}
