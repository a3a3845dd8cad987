import cluster from 'node:cluster';
import { enrolmentKeys } from '#accounts/enrolment.ts';
import { emailSealOf } from '#app/addresses.ts';
import { type Config, readProcessConfig } from '#app/config.ts';
import { makeDataDirectory } from '#app/data-directory.ts';
import { openDatabase } from '#app/database.ts';
import { ensureDemo } from '#app/demo.ts';
import { refuseUnfit } from '#app/fit-database.ts';
import { openKeys } from '#app/keys.ts';
import { refuseCopy } from '#app/restored.ts';
import { openLog } from '#app/readable-log.ts';
import { SetupError, StartError } from '#app/start-error.ts';
import { BackupError } from '#backup/backup-error.ts';
import { printAuditCheck, readAuditOptions } from '#cli/audit-command.ts';
import { importCatalogue, readCatalogueFile } from '#cli/catalogue-command.ts';
import { CommandError, UsageError } from '#cli/command-error.ts';
import { printLedgerCheck, printTold } from '#cli/ledger-command.ts';
import { createOperator, enrolOperator, readEnrolment, readNewOperator } from '#cli/operator-command.ts';
import { readSecretOptions, replaceSecret } from '#cli/secret-command.ts';
import { printRebuild, readRebuildOptions } from '#cli/stats-command.ts';
import { helpFor, usageOf } from '#cli/usage.ts';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { VERSION } from '#db/functions.ts';
import { MigrationError } from '#db/migrate.ts';
import { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';
import { steadyClock } from '#kernel/clock.ts';
import { createKeys, type KeptKeys, proofsOf } from '#kernel/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/** `EX_CONFIG` of sysexits.h. The units for systemd do not start the service again after it. */
const SETUP_STATUS = 78;
const MONTHS_COMMANDS: readonly string[] = ['months', 'close-month', 'archive', 'detach', 'restore-month'];
/** Within this time, further signals count as the first one. */
const SAME_SIGNAL_MS = 1_000;

/** Messages for people go to standard error, so that a command's result on standard output can be piped. */
const say = (text: string): void => console.error(text);

/** Runs a command and returns the exit status: 0, or 1 for a negative result, or 2 for words that are no command. */
async function main(words: readonly string[]): Promise<number> {
  const [command, sub] = words;
  // Two commands have more to say about themselves.
  const help = command === 'catalogue' && (sub === 'prices' || sub === 'probe') ? undefined : helpFor(words);
  if (help !== undefined) {
    console.log(help);
    return 0;
  }
  if (command === '--version' || command === '-v') {
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
  if (usageOf(command) === undefined) return refuse(words); // Before the settings are asked for.
  return runWithSettings(words, readProcessConfig());
}

async function runWithSettings(words: readonly string[], config: Config): Promise<number> {
  const [command = '', sub, argument] = words;
  const log = openLog(config);
  if (command === 'bill' || command === 'reconcile') return compareFile(command, words.slice(1), config, log);
  if (command === 'ledger' && MONTHS_COMMANDS.includes(sub ?? '')) {
    const { readMonths, runMonths } = await import('#cli/months-command.ts');
    const asked = readMonths(words.slice(1));
    return withDatabase(config, log, (owner) => runMonths(asked, owner));
  }
  if (command === 'cells') {
    const { readCells } = await import('#cli/cells-command.ts');
    const run = readCells(words.slice(1));
    return withDatabase(config, log, (owner) => run(owner, { config, log }));
  }
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
      if (words.length > 3 || (argument ?? '--incremental') !== '--incremental') break;
      return withDatabase(config, log, (owner) => printLedgerCheck(owner, { isIncremental: argument !== undefined }));
    case 'ledger told':
      if (argument === undefined) break;
      return withDatabase(config, log, (owner) => printTold(owner, words.slice(2)));
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
    case 'secret replace': {
      const options = readSecretOptions(words.slice(2));
      return withDatabase(config, log, (owner) => replaceSecret(owner, config, options));
    }
    case 'catalogue import': {
      const text = readCatalogueFile(words.slice(2));
      return withDatabase(config, log, (owner) => importCatalogue(owner, text));
    }
  }
  return refuse(words);
}

function refuse(words: readonly string[]): number {
  const [command, sub] = words;
  const usage = usageOf(command, sub) ?? usageOf(command) ?? '`npm run purser -- --help` lists all commands.';
  say(`There is no command \`${words.join(' ')}\`.\n\n${usage}`);
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
    owner.emails = emailSealOf(createKeys(config, keptKeys));
    return command(owner);
  });
}

/** Serves until it is told to stop. A second signal, a second later, ends it at once. */
async function runService(config: Config, log: Log): Promise<never> {
  const { serve, startGateway, workerGround } = await import('#app/serve.ts'); // No other command needs it.
  const ground = cluster.isWorker ? workerGround(config) : undefined;
  const told = Promise.withResolvers<void>();
  const beforeCalls = (): Promise<void> => {
    told.resolve(untilToldToStop());
    return told.promise;
  };
  // A worker takes calls as soon as it listens, while others may still start. A stop then lets those calls end.
  if (ground !== undefined) void beforeCalls();
  const running =
    ground === undefined ? await serve({ config, log, say, beforeCalls }) : await startGateway(config, log, ground);
  await told.promise;
  if (ground === undefined) say('Stopping. Running calls may finish first.');
  await running.stop();
  process.exit(); // Otherwise a connection that a silent server never closes could keep the process alive.
}

/** Delivers webhooks until it is told to stop. A second signal, a second later, ends it at once. */
async function runWork(config: Config, log: Log): Promise<never> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  let keptKeys: KeptKeys;
  try {
    await refuseUnfit(config, log);
    await refuseCopy(database.owner);
    keptKeys = await openKeys(database.owner, config, { isGateway: false, say });
  } catch (fault) {
    await database.close();
    throw fault;
  }
  const { startWork } = await import('#app/webhooks.ts');
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
    fault instanceof StartError ||
    fault instanceof EmbeddedPostgresError ||
    fault instanceof MigrationError ||
    fault instanceof BackupError ||
    fault instanceof CatalogueFileError ||
    fault instanceof CommandError
  );
}

function statusOf(fault: unknown): number {
  if (fault instanceof UsageError) return 2;
  return fault instanceof SetupError || fault instanceof CatalogueFileError ? SETUP_STATUS : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (fault) {
  say(
    isExplained(fault)
      ? fault.message
      : `Purser ran into an unexpected fault.\n${JSON.stringify(describeFault(fault), undefined, 2)}`,
  );
  process.exit(statusOf(fault));
}
