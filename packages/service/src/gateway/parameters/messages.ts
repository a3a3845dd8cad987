import { firstFault, type ValueFault } from '#gateway/parameters/values.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const ROLES = new Set<unknown>(['developer', 'system', 'user', 'assistant', 'tool', 'function']);
/** An assistant may have called tools and said nothing. */
const ROLES_WITHOUT_CONTENT = new Set<unknown>(['assistant', 'function']);

/**
 * Finds the first fault in the messages of a request (CC-07). A request that every provider would refuse is refused here: the
 * caller learns the path of the fault, where a failed provider tells nothing.
 */
export function findMessageFault(messages: unknown): ValueFault | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    return { path: 'messages', expects: 'a non-empty array of messages' };
  }
  return firstFault(messages, 'messages', faultOf);
}

function faultOf(message: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(message)) return { path, expects: 'an object with `role` and `content`' };
  const { role } = message;
  if (!ROLES.has(role)) {
    return { path: `${path}.role`, expects: 'one of "developer", "system", "user", "assistant", "tool"' };
  }
  if (isGiven(message['audio'])) return { path: `${path}.audio`, expects: 'absent: sound has no price here' };
  const nameFault = textFault(message, 'name', path);
  if (nameFault !== undefined) return nameFault;
  if (role === 'tool' && typeof message['tool_call_id'] !== 'string') {
    return { path: `${path}.tool_call_id`, expects: 'the id of the tool call that this answers' };
  }
  return (role === 'assistant' ? saidFault(message, path) : undefined) ?? contentFault(message, path);
}

/** Fields that only an assistant's message has. */
function saidFault(message: JsonObject, path: string): ValueFault | undefined {
  const { tool_calls: calls, function_call: call } = message;
  const refusalFault = textFault(message, 'refusal', path);
  if (refusalFault !== undefined) return refusalFault;
  const callFault = isGiven(call) ? calledFault(call, `${path}.function_call`) : undefined;
  if (callFault !== undefined) return callFault;
  if (!isGiven(calls)) return undefined;
  if (!Array.isArray(calls)) return { path: `${path}.tool_calls`, expects: 'an array of tool calls' };
  return firstFault(calls, `${path}.tool_calls`, toolCallFault);
}

function toolCallFault(call: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(call)) return { path, expects: 'an object with `id`, `type` and `function`' };
  if (typeof call['id'] !== 'string') return { path: `${path}.id`, expects: 'the id of the call' };
  if (call['type'] !== 'function') return { path: `${path}.type`, expects: '"function"' };
  return calledFault(call['function'], `${path}.function`);
}

function calledFault(called: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(called)) return { path, expects: 'an object with `name` and `arguments`' };
  if (typeof called['name'] !== 'string') return { path: `${path}.name`, expects: 'the name of the function' };
  if (typeof called['arguments'] === 'string') return undefined;
  return { path: `${path}.arguments`, expects: 'a string: the arguments, written as JSON' };
}

function textFault(holder: JsonObject, field: string, path: string): ValueFault | undefined {
  const value = holder[field];
  return !isGiven(value) || typeof value === 'string' ? undefined : { path: `${path}.${field}`, expects: 'a string' };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function contentFault({ role, content }: JsonObject, path: string): ValueFault | undefined {
  const at = `${path}.content`;
  if (typeof content === 'string') return undefined;
  if (Array.isArray(content)) {
    return content.length === 0 ? { path: at, expects: 'at least one part' } : firstFault(content, at, partFault);
  }
  const mayBeEmpty = ROLES_WITHOUT_CONTENT.has(role) && !isGiven(content);
  return mayBeEmpty ? undefined : { path: at, expects: 'a string or an array of parts' };
}

/**
 * Finds the fault in a part. Only text and images are taken: other parts have no bound on their tokens, and so no hold
 * that covers them (WA-07).
 */
function partFault(part: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(part)) return { path, expects: 'an object with a `type`' };
  const { type } = part;
  switch (type) {
    case 'text':
    case 'refusal':
      return typeof part[type] === 'string' ? undefined : { path: `${path}.${type}`, expects: 'a string' };
    case 'image_url':
      return imageFault(part['image_url'], `${path}.image_url`);
    default:
      return { path: `${path}.type`, expects: `"text" or "image_url": ${reasonAgainst(type)}` };
  }
}

/** Parts of other interfaces are the usual mistake, so the message names it. */
function reasonAgainst(type: unknown): string {
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'input_image':
      return 'this is a part of the Responses interface';
    case 'image':
    case 'tool_use':
    case 'tool_result':
      return 'this is a part of another interface';
    default:
      return 'other parts, as sound and files, have no price here';
  }
}

/** The image types. Other data, such as a document or a film, would have no bound on its tokens. */
export const IMAGE_URL = /^(https?:\/\/|data:image\/(png|jpeg|webp|gif)[;,])/i;

function imageFault(image: unknown, path: string): ValueFault | undefined {
  const url = isJsonObject(image) ? image['url'] : undefined;
  if (isJsonObject(image) && typeof url === 'string' && IMAGE_URL.test(url)) return textFault(image, 'detail', path);
  return { path: `${path}.url`, expects: 'an http(s) address, or a data URL of a PNG, JPEG, WebP or GIF image' };
}
