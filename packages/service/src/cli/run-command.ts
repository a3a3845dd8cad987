import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { defineBooks } from '#cli/books/commands.ts';
import { defineCells } from '#cli/cells/commands.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import { type Ends, type Ground, PROCESS_GROUND } from '#cli/ground/ground.ts';
import { defineMachine } from '#cli/machine/commands.ts';
import { defineService } from '#cli/service/commands.ts';
import { VERSION } from '#db/schema/functions.ts';
import { namedVersion, readBuild } from '#kernel/build.ts';

const HELP_WORDS: readonly (string | undefined)[] = ['help', '--help', '-h'];
const SETTINGS = '\nSettings are environment variables. docs/guides/operator/settings.md lists them.';

/**
 * Runs the command that these words name and returns the exit status, which is 1 for a negative result. Throws
 * `UsageError` for words that are no command. Asking for help does nothing, not even look at the settings.
 */
export async function runCommand(words: readonly string[], ground: Ground): Promise<number> {
  let status = 0;
  const program = createProgram(ground, (ended) => {
    status = ended;
  });
  const asksForHelp = words.length === 0 || HELP_WORDS.includes(words[0]);
  try {
    await program.parseAsync(asksForHelp ? [...words.slice(1), '--help'] : words, { from: 'user' });
  } catch (fault) {
    if (!(fault instanceof CommanderError)) throw fault;
    if (fault.exitCode === 0) return 0; // Help or the version was printed.
    throw new UsageError(`${refusalOf(fault)}\n\n${helpNear(program, words)}`, { cause: fault });
  }
  return status;
}

/** Returns the names of all commands, such as `backup create`. */
export function commandNames(): readonly string[] {
  return leavesOf(createProgram(PROCESS_GROUND, () => {})).map(pathOf);
}

function createProgram(ground: Ground, end: (status: number) => void): Command {
  const ends: Ends =
    (work) =>
    async (...given) =>
      end((await work(...given)) ?? 0);
  const program: Command = new Command('purser')
    .usage('<command>')
    .option('-v, --version', 'print the version, and the commit that it was made of')
    .on('option:version', () => {
      console.log(namedVersion(VERSION, readBuild()));
      throw new CommanderError(0, 'commander.version', VERSION);
    })
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', '\n`npm run purser -- <command> --help` says what a command takes.')
    .addHelpText('afterAll', SETTINGS)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({
      commandUsage: (command) => `npm run purser -- ${`${pathOf(command)} ${command.usage()}`.trim()}`,
      visibleCommands: (command) => leavesOf(command),
      subcommandDescription: (command) => command.description().split(/\.(?= |$)/)[0] ?? '',
      subcommandTerm: (command) => `${pathOf(command)} ${argumentsOf(command)}`.trim(),
    });
  defineService(program, ends, ground);
  defineMachine(program, ends, ground);
  defineBooks(program, ends, ground);
  defineCells(program, ends, ground);
  return program;
}

/** Returns the commands of a group, and of the groups in it. */
function leavesOf({ commands }: CommandUnknownOpts): CommandUnknownOpts[] {
  return commands.flatMap((command) => (command.commands.length === 0 ? [command] : leavesOf(command)));
}

/** Returns the words that name a command. */
function pathOf(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

function argumentsOf({ registeredArguments }: CommandUnknownOpts): string {
  return registeredArguments
    .map((one) => {
      const name = `${one.name()}${one.variadic ? '...' : ''}`;
      return one.required ? `<${name}>` : `[${name}]`;
    })
    .join(' ');
}

/** Says what is wrong with the words of a command, without values, because one may be a password. */
function refusalOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A word is missing after the command.';
  if (code === 'commander.excessArguments') return 'There are too many words after the command.';
  const words = code === 'commander.unknownOption' ? message.replace(/'(--[^=']*|-.)[^']*'/, "'$1'") : message;
  const [what = '', hint] = words.replace(/^error: /, '').split('\n');
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}.${hint === undefined ? '' : ` ${hint}`}`;
}

/** Returns the help of the command or group that these words begin, or where to find that of all. */
function helpNear(program: Command, words: readonly string[]): string {
  let near: CommandUnknownOpts = program;
  for (const word of words) {
    const next = near.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    near = next;
  }
  return near === program ? '`npm run purser -- --help` lists all commands.' : near.helpInformation().trim();
}
