import type { Message } from './message.ts';

const QUOTE_CHARACTERS_MAX = 120;
const CLOSING =
  'No model was called, so this is the best answer I have. ' +
  'Connect a provider of your own, and the same request gets a real one.';

/**
 * The simulator's own answer: who it is, what it was asked, and that no model was called, so that nobody takes it for a
 * real one. `index` is the position among several choices, so that no two read the same.
 */
export function writeProse(messages: readonly Message[], index: number): string {
  const last = messages.at(-1);
  const opening = index === 0 ? 'Hello from the built-in simulator!' : `Answer ${index + 1} of the built-in simulator.`;
  if (last !== undefined && last.role === 'tool') {
    return `${opening} The tool answered ${quote(last.text)}, and that was all I needed.`;
  }
  return [opening, writeEcho(messages), writeAttachments(messages), CLOSING].filter((line) => line !== '').join(' ');
}

/** The last user message, shortened to one line. Empty if there is none. */
export function echoOf(messages: readonly Message[]): string {
  const asked = lastUserText(messages).trim();
  return asked === '' ? '' : shorten(asked);
}

export function lastUserText(messages: readonly Message[]): string {
  return messages.findLast((message) => message.role === 'user')?.text ?? '';
}

function writeEcho(messages: readonly Message[]): string {
  const echo = echoOf(messages);
  return echo === '' ? 'You sent no question.' : `You said “${echo}”.`;
}

function writeAttachments(messages: readonly Message[]): string {
  const count = messages.reduce((sum, message) => sum + message.attachmentCount, 0);
  if (count === 0) return '';
  return count === 1
    ? 'I counted your attachment without opening it.'
    : `I counted your ${count} attachments without opening them.`;
}

function quote(text: string): string {
  return text.trim() === '' ? 'nothing' : `“${shorten(text)}”`;
}

function shorten(text: string): string {
  // Cut before white space is collapsed. Otherwise a megabyte of text would be processed for one line.
  const start = text.slice(0, QUOTE_CHARACTERS_MAX * 4).toWellFormed();
  const characters = Array.from(start.replaceAll(/\s+/gu, ' ').trim());
  const isWhole = characters.length <= QUOTE_CHARACTERS_MAX && start.length === text.length;
  return isWhole ? characters.join('') : `${characters.slice(0, QUOTE_CHARACTERS_MAX).join('')}…`;
}
