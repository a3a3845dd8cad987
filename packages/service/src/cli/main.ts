import cluster from 'node:cluster';
import { enrolmentKeys } from '#accounts/enrolment.ts';
import { openAddresses } from '#app/addresses.ts';
import { type Config, ConfigError, readProcessConfig } from '#app/config.ts';
import { makeDataDirectory } from '#app/data-directory.ts';
import { openDatabase } from '#app/database.ts';
import { ensureDemo } from '#app/demo.ts';
import { openKeys } from '#app/keys.ts';
import { refuseCopy } from '#app/restored.ts';
import { openLog } from '#app/readable-log.ts';
import { StartError } from '#app/start-error.ts';
import { serve, startGateway, workerGround } from '#app/serve.ts';
import { startWork } from '#app/webhooks.ts';
import { BackupError } from '#backup/backup-error.ts';
import { printAuditCheck, readAuditOptions } from '#cli/audit-command.ts';
import { importCatalogue } from '#cli/catalogue-command.ts';
import { CommandError } from '#cli/command-error.ts';
import { printLedgerCheck } from '#cli/ledger-command.ts';
import { createOperator, enrolOperator, readEnrolment, readNewOperator } from '#cli/operator-command.ts';
import { replaceSecret } from '#cli/secret-command.ts';
import { printRebuild, readRebuildOptions } from '#cli/stats-command.ts';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { VERSION } from '#db/functions.ts';
import { MigrationError } from '#db/migrate.ts';
import { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';
import { steadyClock } from '#kernel/clock.ts';
import { createKeys, type KeptKeys, proofsOf } from '#kernel/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';

const USAGE = `Usage: npm run purser -- <command>

  serve                     start the service (same as \`npm start\`)
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

Settings are environment variables. docs/guides/operator/settings.md lists them.`;

/** Within this time, further signals count as the first one. */
const SAME_SIGNAL_MS = 1_000;

/** Messages for people go to standard error, so that a command's result on standard output can be piped. */
const say = (text: string): void => console.error(text);

/** Runs a command and returns the exit status: 0, or 1 for a negative result, or 2 for a command that does not exist. */
async function main(words: readonly string[]): Promise<number> {
  const [command, sub] = words;
  if (command === undefined || command === 'help' || command === '--help') {
    console.log(USAGE);
    return 0;
  }
  if (command === '--version') {
    console.log(VERSION);
    return 0;
  }
  // Before the settings are read: `listen` runs on a developer's machine, which has none of the service's.
  if (command === 'listen') {
    const { listen } = await import('#cli/listen-command.ts'); // With an HTTP client that no gateway process needs.
    return listen(words.slice(1), untilToldToStop);
  }
  // They read the settings themselves, so that their help needs none.
  if (command === 'catalogue' && sub === 'prices') {
    const { comparePrices } = await import('#cli/prices-command.ts'); // With libraries that no gateway process needs.
    return comparePrices(words.slice(2), readProcessConfig);
  }
  if (command === 'catalogue' && sub === 'probe') {
    const { probeModel } = await import('#cli/probe-command.ts');
    return probeModel(words.slice(2), readProcessConfig);
  }
  // It also says what is wrong with settings that cannot be used.
  if (command === 'doctor') {
    const { runDoctor } = await import('#cli/doctor-command.ts');
    return leaveWith(await runDoctor(words.slice(1), readProcessConfig));
  }
  return runWithSettings(words, readProcessConfig());
}

async function runWithSettings(words: readonly string[], config: Config): Promise<number> {
  const [command = '', sub, argument] = words;
  const log = openLog(config);
  if (command === 'bill' || command === 'reconcile') return compareFile(command, words.slice(1), config, log);
  if (command === 'backup') {
    const { runBackup } = await import('#cli/backup-command.ts');
    return runBackup(words.slice(1), { config, log, say });
  }
  // A case that ends with `break` has wrong arguments and falls through to the usage text.
  switch (`${command} ${sub ?? ''}`.trim()) {
    case 'serve':
      return runService(config, log);
    case 'work':
      return runWork(config, log);
    case 'migrate':
      return withDatabase(config, log, async () => say('The database schema is up to date.'));
    case 'seed':
      return withAddresses(config, log, async (owner) => {
        makeDataDirectory(config.dataDirectory);
        const demo = await ensureDemo(owner, config);
        console.log(JSON.stringify(demo, undefined, 2));
      });
    case 'ledger check':
      if (argument !== undefined && argument !== '--incremental') break;
      return withDatabase(config, log, (owner) => printLedgerCheck(owner, { isIncremental: argument !== undefined }));
    case 'audit check': {
      const known = readAuditOptions(words.slice(2));
      return withDatabase(config, log, (owner) => printAuditCheck(owner, config, known));
    }
    case 'stats rebuild': {
      const days = readRebuildOptions(words.slice(2));
      return withDatabase(config, log, (owner) => printRebuild(owner, days));
    }
    case 'operator create':
    case 'operator enrol':
      return runOperator(words.slice(1), config, log);
    case 'secret replace':
      return withDatabase(config, log, (owner) => replaceSecret(owner, config, words.slice(2)));
    case 'catalogue import':
      return withDatabase(config, log, (owner) => importCatalogue(owner, argument));
  }
  say(`There is no command \`${words.join(' ')}\`.\n\n${USAGE}`);
  return 2;
}

/** Ends the process, although a server that does not answer may still have a connection open. Output to a pipe is written first. */
function leaveWith(status: number): Promise<never> {
  return new Promise(() => process.stdout.write('', () => process.exit(status)));
}

async function runOperator([sub, ...words]: readonly string[], config: Config, log: Log): Promise<number> {
  if (sub === 'enrol') {
    const address = readEnrolment(words);
    return withAddresses(config, log, (owner) => enrolOperator(owner, enrolmentKeys(proofsOf(config)), address));
  }
  const operator = await readNewOperator(words, process.stdin, (text) => process.stderr.write(text));
  return withAddresses(config, log, (owner) => createOperator(owner, operator));
}

/** The commands that compare a file with the books. Few processes need them, so they are loaded when they run. */
async function compareFile(
  command: 'bill' | 'reconcile',
  words: readonly string[],
  config: Config,
  log: Log,
): Promise<number> {
  if (command === 'bill') {
    const { printBill, readBillOptions } = await import('#cli/bill-command.ts');
    const options = readBillOptions(words);
    return withDatabase(config, log, (owner) => printBill(owner, config.currency, options));
  }
  const { printReconciliation, readFileOptions } = await import('#cli/reconcile-command.ts');
  const { readProcessor } = await import('#app/payments.ts');
  const options = { ...readFileOptions(command, words), ...(await readProcessor(config)) };
  return withAddresses(config, log, (owner) => printReconciliation(owner, options));
}

type DatabaseCommand = (owner: Awaited<ReturnType<typeof openDatabase>>['owner']) => Promise<number | void>;

/** Runs a command on the database. A service may be running on it at the same time. */
async function withDatabase(config: Config, log: Log, command: DatabaseCommand): Promise<number> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  try {
    return (await command(database.owner)) ?? 0;
  } finally {
    await database.close();
  }
}

/** Runs a command that reads or writes e-mail addresses, or adds to the audit trail. It needs the secret of the database. */
async function withAddresses(config: Config, log: Log, command: DatabaseCommand): Promise<number> {
  return withDatabase(config, log, async (owner) => {
    const keptKeys = await openKeys(owner, config, { isGateway: false, say });
    await openAddresses(owner, createKeys(config, keptKeys));
    return command(owner);
  });
}

/** Serves until it is told to stop. A second signal, a second later, ends it at once. */
async function runService(config: Config, log: Log): Promise<never> {
  const ground = cluster.isWorker ? workerGround(config) : undefined;
  const running = ground === undefined ? await serve({ config, log, say }) : await startGateway(config, log, ground);
  await untilToldToStop();
  if (ground === undefined) say('Stopping. Running calls may finish first.');
  await running.stop();
  process.exit(); // Otherwise a connection that a silent server never closes could keep the process alive.
}

/** Delivers webhooks until it is told to stop. A second signal, a second later, ends it at once. */
async function runWork(config: Config, log: Log): Promise<never> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  let keptKeys: KeptKeys;
  try {
    await refuseCopy(database.owner);
    keptKeys = await openKeys(database.owner, config, { isGateway: false, say });
  } catch (fault) {
    await database.close();
    throw fault;
  }
  const work = startWork(config, createKeys(config, keptKeys), log, database.url);
  say('Purser delivers webhooks.');
  await untilToldToStop();
  say('Stopping. Running attempts may finish first.');
  await work.stop();
  await database.close();
  process.exit(0);
}

/**
 * Resolves with the first SIGINT or SIGTERM. One that comes a second later exits at once, for people who do not want to wait.
 * Not sooner: npm hands on what the terminal or systemd has already sent to every process, and so does our first process to
 * its workers.
 */
function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let toldAtMs: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.removeAllListeners(signal); // In a container, the launcher's, which ends a start at once.
      process.on(signal, () => {
        toldAtMs ??= steadyClock.nowMs();
        if (steadyClock.nowMs() - toldAtMs > SAME_SIGNAL_MS) process.exit(1);
        resolve();
      });
    }
  });
}

/** True for faults that explain themselves and are shown as a plain message. All others are bugs and are shown whole. */
function isExplained(fault: unknown): fault is Error {
  return (
    fault instanceof ConfigError ||
    fault instanceof StartError ||
    fault instanceof EmbeddedPostgresError ||
    fault instanceof MigrationError ||
    fault instanceof BackupError ||
    fault instanceof CatalogueFileError ||
    fault instanceof CommandError
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (fault) {
  say(
    isExplained(fault)
      ? fault.message
      : `Purser ran into an unexpected fault.\n${JSON.stringify(describeFault(fault), undefined, 2)}`,
  );
  process.exit(1);
}
