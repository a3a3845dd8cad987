const HEAD = 'Usage: npm run purser -- <command>';
const FOOT = 'Settings are environment variables. docs/guides/operator/settings.md lists them.';
/** A command begins after two spaces, and what it does goes on further right. */
const COMMANDS = `  serve                     start the service (same as \`npm start\`)
  work                      deliver webhooks in a process that does nothing else
  migrate                   bring the database schema up to date
  seed                      create the demo account, app, keys and user
  listen --app <app> --forward <address>   forward copies of an app's new events to an address on this machine;
                            the listen token of the app's Webhooks page comes from PURSER_LISTEN_TOKEN or
                            standard input, or is asked for;
                            --url <service> (default PURSER_URL, or else http://127.0.0.1:8787);
                            --events <type>,<type>;
                            --threshold <micros> also forwards balance.low
  catalogue import <file>   replace the catalogue with a file
  catalogue prices          compare the prices of a catalogue file with a public list, and write new ones;
                            --help lists its options
  catalogue probe <model>   find out with a few small calls what the upstreams of a model can do, and propose an entry;
                            --help lists its options
  operator create --email <address> [--name <name>]
                            create an operator account; asks for the password, or reads it from standard input
  operator enrol --email <address>
                            print the code with which an operator adds their first second factor
  secret replace            make PURSER_SECRET the only secret of this database, after all gateways have stopped;
                            PURSER_SECRET_ALSO: the former one; --lost gives up what a lost one protected, for good
  doctor                    look for what is wrong with the settings, the machine, the database and everybody whom the
                            service talks to, and say what to do; changes nothing;
                            --json for programs; --local calls nobody
  backup create [<folder>]  back up the embedded database and the settlements on disk while the service runs;
                            --keep <number> removes older backups
  backup list [<folder>]    list the whole backups
  backup restore [<folder>] restore into an empty data directory: --at <time> goes back to a moment,
                            --log <folder> also reads the log of a lost server
  backup check              check a restored database: books, audit trail, kept keys, counters
  backup accept             say that the original of a restored database is gone, so that gateways start
  ledger check              recompute every balance and report each difference
  ledger check --incremental   the same, only for wallets that changed since they were last found right
  ledger told <file>...     compare the charges that callers were told, by the JSON logs and settlement files of gateways, with
                            the books; \`-\` is standard input
  ledger months             list the months that receipts lie in
  ledger close-month <month>   check, add up and seal a month (2026-07) that has ended, for good
  ledger archive <month> --to <folder>   write a closed month as CSV, and read it back
  ledger detach <month> --archive <folder>   take an archived month out of the database, 13 months after its end;
                            --early: sooner
  ledger restore-month <file>   bring it back
  cells list                list the cells and their slots
  cells books               print the money in each cell, and whether what has left cells has arrived in others; exit status 1
                            if it has not
  cells find <app> <user>   say which cell has this user of this app
  cells add <name> --at <address>   add a cell, which gateways of others reach there; the first one gets all slots;
                            with another address, a cell that there is gets that
  cells assign <slots> --to <cell>   give slots of this database's cell (17 or 0-2047) to another one, as long as
                            nobody in them has a wallet
  cells move <slots> --to <cell>   move slots with the money of their users, while calls run, from the database in DATABASE_URL to the one
                            in PURSER_OTHER_DATABASE_URL; --wait: seconds that running calls have to end (300);
                            --back: give up a move that was killed
  cells publish             offer the directory of this database (accounts, apps, keys, catalogue, cells) to other cells
  cells subscribe --at <address>   make an unused database the cell PURSER_CELL, with a copy of the directory that lies in
                            PURSER_DIRECTORY_URL and is changed at that public address; also after an upgrade;
                            --again instead: copy all of it again while the cell goes on, if it differs or its slot was lost
  cells compare             compare this cell's copy of the directory with the directory; exit status 1 if it differs
  bill <file> --provider <name> --format openrouter|anthropic|openai --from <day> --to <day>
                            compare what a provider says it billed (JSON) with the receipts, by UTC day and model;
                            --dollar <amount>: what a US dollar was worth in your currency
  reconcile <file> --from <day> --to <day>
                            compare Stripe's itemized balance report (CSV) of some UTC days with the books, and
                            file it if it is clean; without a file, Stripe's own list is read; --to is the day
                            after the last
  audit check               walk the audit trail's chain of hashes and report each line that was changed, removed or inserted;
                            --head <line>:<hash> also compares a line with what the log once said
  stats rebuild             make the statistics of calls again from receipts and traces;
                            --from <day> --to <day> for some UTC days only, without the day of --to
  --version                 print the version
  --help                    print this; after a command, only what that command takes`;

const HELP_WORDS: readonly (string | undefined)[] = ['help', '--help', '-h'];
const ENTRIES = COMMANDS.split(/\n(?= {2}\S)/);

/** All commands. */
export const USAGE = `${HEAD}\n\n${COMMANDS}\n\n${FOOT}`;

/**
 * What to print if these words ask for help: the commands that they begin, or all. Undefined if they do not ask. Nobody who asks
 * for help has anything done, not even a look at the settings.
 */
export function helpFor(words: readonly string[]): string | undefined {
  const asks = words.length === 0 || HELP_WORDS.includes(words[0]) || words.includes('--help') || words.includes('-h');
  if (!asks) return undefined;
  const [command, sub] = words.filter((word) => !HELP_WORDS.includes(word));
  return usageOf(command, sub) ?? usageOf(command) ?? USAGE;
}

/** The commands that begin with these words. Undefined if none does. */
export function usageOf(command = '', sub?: string): string | undefined {
  const begin = sub === undefined ? `  ${command} ` : `  ${command} ${sub} `;
  const own = ENTRIES.filter((entry) => entry.startsWith(begin));
  return own.length === 0 ? undefined : `Usage, after \`npm run purser -- \`:\n\n${own.join('\n')}\n\n${FOOT}`;
}
