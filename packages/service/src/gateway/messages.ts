import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/** What is wrong with the messages: the path of the fault, and what belongs there (CC-07). */
interface MessageFault {
  readonly path: string;
  readonly expects: string;
}

const ROLES = new Set<unknown>(['developer', 'system', 'user', 'assistant', 'tool', 'function']);
const TEXT_ROLES_WITHOUT_CONTENT = new Set<unknown>(['assistant', 'function']);

/** The first fault in the messages of a request, or undefined. */
export function findMessageFault(messages: unknown): MessageFault | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { path: 'messages', expects: 'a non-empty array of messages' };
  }
  for (const [index, message] of messages.entries()) {
    const fault = faultOf(message, `messages[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf(message: unknown, path: string): MessageFault | undefined {
  if (!isJsonObject(message)) return { path, expects: 'an object with `role` and `content`' };
  const { role, content } = message;
  if (!ROLES.has(role)) {
    return { path: `${path}.role`, expects: 'one of "developer", "system", "user", "assistant", "tool"' };
  }
  if (role === 'tool' && typeof message['tool_call_id'] !== 'string') {
    return { path: `${path}.tool_call_id`, expects: 'the id of the tool call that this answers' };
  }
  if (message['audio'] !== undefined && message['audio'] !== null) {
    return { path: `${path}.audio`, expects: 'absent: audio has no price here' };
  }
  if (typeof content === 'string') return undefined;
  if (Array.isArray(content)) return partsFault(content, `${path}.content`);
  const mayBeEmpty = TEXT_ROLES_WITHOUT_CONTENT.has(role) && (content === null || content === undefined);
  return mayBeEmpty ? undefined : { path: `${path}.content`, expects: 'a string or an array of parts' };
}

function partsFault(parts: readonly unknown[], path: string): MessageFault | undefined {
  if (parts.length === 0) return { path, expects: 'at least one part' };
  for (const [index, part] of parts.entries()) {
    const fault = partFault(part, `${path}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function partFault(part: unknown, path: string): MessageFault | undefined {
  if (!isJsonObject(part)) return { path, expects: 'an object with a `type`' };
  switch (part['type']) {
    case 'text':
    case 'refusal': {
      const field = part['type'];
      return typeof part[field] === 'string' ? undefined : { path: `${path}.${field}`, expects: 'a string' };
    }
    case 'image_url':
      return isImageUrl(imageUrlOf(part))
        ? undefined
        : {
            path: `${path}.image_url.url`,
            expects: 'an http(s) address, or a data URL of a PNG, JPEG, WebP or GIF image',
          };
    default:
      return { path: `${path}.type`, expects: '"text" or "image_url": other parts have no price here' };
  }
}

/** What else a data URL may hold (a document, a film) has no bound on its tokens. */
const IMAGE_URL = /^(https?:\/\/|data:image\/(png|jpeg|webp|gif)[;,])/i;

function isImageUrl(url: string | undefined): boolean {
  return url !== undefined && IMAGE_URL.test(url);
}

/** The address of an image part, which may be a data URL; undefined for any other part. */
function imageUrlOf(part: JsonObject): string | undefined {
  if (part['type'] !== 'image_url') return undefined;
  const image = part['image_url'];
  const url = isJsonObject(image) ? image['url'] : undefined;
  return typeof url === 'string' ? url : undefined;
}

/** How many images the messages hold, and how many bytes of the body are their data URLs. Messages must be checked. */
export function measureImages(messages: readonly JsonObject[]): {
  readonly images: number;
  readonly dataUrlBytes: number;
} {
  let images = 0;
  let dataUrlBytes = 0;
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content as readonly JsonObject[]) {
      const url = imageUrlOf(part);
      if (url === undefined) continue;
      images += 1;
      if (!/^http/i.test(url)) dataUrlBytes += url.length;
    }
  }
  return { images, dataUrlBytes };
}
