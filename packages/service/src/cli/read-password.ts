import { CommandError } from '#cli/command-error.ts';

/** Where a password comes from: a terminal, or whatever is piped in. `process.stdin` is one. */
export interface PasswordSource extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

const INPUT_LENGTH_MAX = 4_096;
const GIVE_UP = new Set(['\u0003', '\u0004']); // Ctrl-C and Ctrl-D.
const RUB_OUT = new Set(['\u007f', '\b']);

/**
 * Reads a password: typed twice at a terminal, which does not show it, or the first line of what is piped in. Never from
 * the command's words: every process of the machine can read those.
 */
export async function readPassword(source: PasswordSource, write: (text: string) => unknown): Promise<string> {
  source.setEncoding('utf8');
  if (source.isTTY !== true) return readLine(source);
  const [password, again] = await readHidden(source, write, ['Password: ', 'Once more: ']);
  if (password === undefined || password !== again) throw new CommandError('The two are not the same. Try again.');
  return password;
}

async function readLine(source: PasswordSource): Promise<string> {
  let text = '';
  for await (const part of source) {
    text += String(part);
    if (text.includes('\n') || text.length > INPUT_LENGTH_MAX) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}

/** One line for each prompt. What is typed or pasted ahead counts. */
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
          reject(new CommandError('Given up: nothing was changed.'));
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
