import { CommandError } from '#cli/terminal/command-error.ts';

/** A source of passwords: a terminal or a pipe. `process.stdin` is one. */
export interface PasswordSource extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

/** This is far above the longest password that is accepted. */
const INPUT_LENGTH_MAX = 4_096;
const GIVE_UP = new Set(['\u0003', '\u0004']); // Ctrl-C and Ctrl-D.
/** Terminals send one or the other for the backspace key. */
const RUB_OUT = new Set(['\u007f', '\b']);

/**
 * Reads a password: typed twice at a terminal without echo, or the first line of a pipe. Never from the command line, which
 * every process on the machine can read.
 */
export async function readPassword(source: PasswordSource, write: (text: string) => unknown): Promise<string> {
  source.setEncoding('utf8');
  if (source.isTTY !== true) return readLine(source);
  const [password, again] = await readHidden(source, write, ['Password: ', 'Password again: ']);
  if (password === undefined || password !== again) throw new CommandError('The two passwords differ. Try again.');
  return password;
}

/** Reads one line at a terminal without echo. */
export async function readHiddenLine(
  terminal: PasswordSource,
  write: (text: string) => unknown,
  prompt: string,
): Promise<string> {
  terminal.setEncoding('utf8');
  const [line = ''] = await readHidden(terminal, write, [prompt]);
  return line;
}

/** Reads the first line of a pipe. The bound keeps an endless pipe from filling the memory. */
async function readLine(source: PasswordSource): Promise<string> {
  let text = '';
  for await (const part of source) {
    text += String(part);
    if (text.includes('\n') || text.length > INPUT_LENGTH_MAX) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}

/**
 * Reads one line for each prompt in raw mode, which switches the echo off. So it must handle Ctrl-C and backspace itself.
 * Input that was typed or pasted ahead counts.
 */
function readHidden(
  terminal: PasswordSource,
  write: (text: string) => unknown,
  prompts: readonly string[],
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    let typed = '';
    function end(): void {
      terminal.off('data', take);
      terminal.setRawMode?.(false);
      terminal.pause();
    }
    function take(part: string): void {
      for (const character of part) {
        if (GIVE_UP.has(character)) {
          write('\n');
          end();
          reject(new CommandError('Cancelled. Nothing was changed.'));
          return;
        }
        if (character === '\r' || character === '\n') {
          lines.push(typed);
          typed = '';
          write(`\n${prompts[lines.length] ?? ''}`);
          if (lines.length < prompts.length) continue;
          end();
          resolve(lines);
          return;
        }
        typed = RUB_OUT.has(character) ? Array.from(typed).slice(0, -1).join('') : typed + character;
      }
    }
    terminal.setRawMode?.(true);
    terminal.on('data', take);
    terminal.resume();
    write(prompts[0] ?? '');
  });
}
