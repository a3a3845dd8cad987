import type { ValueFault } from '#gateway/parameters/values.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Content in the form of chat completions, which checks it. */
interface Content {
  readonly content: unknown;
}

/** Reads a text or a list of parts. What is neither goes on as it is, to be refused. */
export function readContent(content: unknown, path: string): Content | ValueFault {
  if (!Array.isArray(content)) return { content };
  const parts: unknown[] = [];
  for (const [index, part] of (content as readonly unknown[]).entries()) {
    const read = partOf(part, `${path}[${index}]`);
    if ('expects' in read) return read as ValueFault;
    parts.push(read);
  }
  return { content: parts };
}

function partOf(part: unknown, path: string): JsonObject | ValueFault {
  if (!isJsonObject(part)) return { path, expects: 'an object with a `type`' };
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part['text'] };
    case 'refusal':
      return { type: 'refusal', refusal: part['refusal'] };
    case 'input_image':
      return imageOf(part, path);
    default:
      return { path: `${path}.type`, expects: `"input_text" or "input_image": ${reasonAgainst(part['type'])}` };
  }
}

function imageOf({ image_url: url, file_id: fileId, detail }: JsonObject, path: string): JsonObject | ValueFault {
  if (fileId !== undefined && fileId !== null) {
    return {
      path: `${path}.file_id`,
      expects: 'absent: no files are kept here, so send the image itself in `image_url`',
    };
  }
  return { type: 'image_url', image_url: { url, ...(detail === undefined || detail === null ? {} : { detail }) } };
}

/** The usual mistakes, with what to do instead. */
function reasonAgainst(type: unknown): string {
  switch (type) {
    case 'input_file':
      return 'files have no price here, so send their text, or their pages as images';
    case 'input_audio':
      return 'sound has no price here';
    case 'text':
    case 'image_url':
      return 'this is a part of chat completions';
    default:
      return 'other parts have no price here';
  }
}
