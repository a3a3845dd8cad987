import { malformed } from './api-error.ts';
import { Fields } from './fields.ts';

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const;
type Role = (typeof ROLES)[number];

/** A message, reduced to what the simulator echoes and counts. */
export interface Message {
  readonly role: Role;
  /** The content, or its text parts on one line each. */
  readonly text: string;
  /** Text that counts as tokens but is never echoed: names, and an assistant's tool calls. */
  readonly unspokenText: string;
  /** Images, audio clips and files among the parts. */
  readonly attachmentCount: number;
}

// The format has no such limits, but the body limit alone would allow a million empty messages.
const MESSAGES_MAX = 10_000;
const MEMBERS_MAX = 10_000;

/** Parses `messages`: at least one, each with a known role and content of a known kind. */
export function parseMessages(request: Fields): readonly Message[] {
  const list = request.list('messages', { min: 1, max: MESSAGES_MAX });
  if (list === undefined) throw malformed('messages', '`messages` is missing: send a list with at least one message.');
  return list.map((value, index) => parseMessage(new Fields(value, `messages[${index}]`)));
}

function parseMessage(message: Fields): Message {
  const role = parseRole(message);
  const name = message.string('name') ?? '';
  if (role === 'tool') message.text('tool_call_id');
  const calls = role === 'assistant' ? parseToolCallText(message) : '';
  const isContentOptional = role === 'assistant';
  return { role, unspokenText: name + calls, ...parseContent(message, isContentOptional) };
}

function parseRole(message: Fields): Role {
  const value = message.text('role');
  const role = ROLES.find((known) => known === value);
  if (role === undefined)
    throw malformed(message.pathOf('role'), `\`${value}\` is not a role. Roles: ${ROLES.join(', ')}.`);
  return role;
}

/** Parses `content`: a text or a list of parts. Only an assistant's may be missing, because it may have tool calls instead. */
function parseContent(message: Fields, isOptional: boolean): Pick<Message, 'text' | 'attachmentCount'> {
  const content = message.raw('content');
  const path = message.pathOf('content');
  if (typeof content === 'string') return { text: content, attachmentCount: 0 };
  if (content === undefined && isOptional) return { text: '', attachmentCount: 0 };
  if (!Array.isArray(content)) throw malformed(path, `\`${path}\` must be a string or a list of parts.`);

  const parts = message.list('content', { min: 1, max: MEMBERS_MAX }) ?? [];
  const texts = parts.map((part, index) => parsePart(new Fields(part, `${path}[${index}]`)));
  const spoken = texts.filter((text) => text !== undefined);
  return { text: spoken.join('\n'), attachmentCount: texts.length - spoken.length };
}

/** The text of a part, or undefined if it is an attachment. Attachments are counted, never opened, fetched or decoded. */
function parsePart(part: Fields): string | undefined {
  const type = part.text('type');
  switch (type) {
    case 'text':
      return part.string('text') ?? '';
    case 'refusal':
      return part.string('refusal') ?? '';
    case 'image_url':
      required(part, 'image_url').text('url');
      return undefined;
    case 'input_audio':
      required(part, 'input_audio').text('data');
      return undefined;
    case 'file':
      required(part, 'file');
      return undefined;
    default:
      throw malformed(part.pathOf('type'), `\`${type}\` is not a kind of content part.`);
  }
}

/** The names and arguments of an assistant's tool calls, as text: a model reads them, so they count as tokens. */
function parseToolCallText(message: Fields): string {
  const calls = message.list('tool_calls', { min: 0, max: MEMBERS_MAX }) ?? [];
  const texts = calls.map((value, index) => {
    const call = new Fields(value, message.pathOf(`tool_calls[${index}]`));
    call.text('id');
    const called = required(call, 'function');
    return called.text('name') + (called.string('arguments') ?? '');
  });
  return texts.join('');
}

function required(fields: Fields, name: string): Fields {
  const found = fields.object(name);
  if (found === undefined) throw malformed(fields.pathOf(name), `\`${fields.pathOf(name)}\` is missing.`);
  return found;
}
