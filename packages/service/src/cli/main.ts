import cluster from 'node:cluster';
import { type Config, ConfigError, readProcessConfig } from '#app/config.ts';
import { openDatabase } from '#app/database.ts';
import { ensureDemo } from '#app/demo.ts';
import { StartError } from '#app/start-error.ts';
import { serve, startGateway, workerGround } from '#app/serve.ts';
import { startWork } from '#app/webhooks.ts';
import { importCatalogue } from '#cli/catalogue-command.ts';
import { CommandError } from '#cli/command-error.ts';
import { listen } from '#cli/listen-command.ts';
import { printLedgerCheck } from '#cli/ledger-command.ts';
import { createOperator, readNewOperator } from '#cli/operator-command.ts';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { MigrationError } from '#db/migrate.ts';
import { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';
import { createLog, describeFault, type Log } from '#kernel/log.ts';

const USAGE = `Usage: npm run purser -- <command>

  serve                     start the service (what \`npm start\` does)
  work                      deliver webhooks, in a process that does nothing else
  migrate                   bring the database schema up to date
  seed                      make the demo account, app, keys and user
  listen --app <app> --forward <address>   copies of an app's events, from now on, sent to an address on this machine;
                            PURSER_SESSION_TOKEN or standard input signs in;
                            --url <service> http://127.0.0.1:8787 otherwise; --events <type>,<type>;
                            --threshold <micros> for balance.low, which is left out otherwise
  catalogue import <file>   make a file the catalogue
  operator create --email <address> [--name <name>]
                            make an operator's account; asks for the password, or takes it from standard input
  ledger check              derive every balance anew and report each difference
  ledger check --incremental   only of wallets that have changed since they were last found right

Settings are environment variables: see "Settings" in docs/guides/operator.md.`;

const say = (text: string): void => console.error(text);

async function main(words: readonly string[]): Promise<number> {
  const [command, sub, argument] = words;
  if (command === undefined || command === 'help' || command === '--help') {
    console.log(USAGE);
    return 0;
  }
  if (command === 'listen') return listen(words.slice(1), untilToldToStop); // It needs no settings of the service.
  const config = readProcessConfig();
  const log = createLog(config.logLevel);
  switch (`${command} ${sub ?? ''}`.trim()) {
    case 'serve':
      return runService(config, log);
    case 'work':
      return runWork(config, log);
    case 'migrate':
      return withDatabase(config, log, async () => say('The database schema is up to date.'));
    case 'seed':
      return withDatabase(config, log, async (owner) => {
        const demo = await ensureDemo(owner, config);
        console.log(JSON.stringify(demo, undefined, 2));
      });
    case 'ledger check':
      if (argument !== undefined && argument !== '--incremental') break;
      return withDatabase(config, log, (owner) => printLedgerCheck(owner, { isIncremental: argument !== undefined }));
    case 'operator create': {
      const operator = await readNewOperator(words.slice(2), process.stdin, (text) => process.stderr.write(text));
      return withDatabase(config, log, (owner) => createOperator(owner, operator));
    }
    case 'catalogue import':
      return withDatabase(config, log, (owner) => importCatalogue(owner, argument));
  }
  say(`There is no command \`${words.join(' ')}\`.\n\n${USAGE}`);
  return 2;
}

type DatabaseCommand = (owner: Awaited<ReturnType<typeof openDatabase>>['owner']) => Promise<number | void>;

async function withDatabase(config: Config, log: Log, command: DatabaseCommand): Promise<number> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  try {
    return (await command(database.owner)) ?? 0;
  } finally {
    await database.close();
  }
}

/** Serves until it is told to stop; a second signal ends it at once. */
async function runService(config: Config, log: Log): Promise<never> {
  const ground = cluster.isWorker ? workerGround(config) : undefined;
  const running = ground === undefined ? await serve({ config, log, say }) : await startGateway(config, log, ground);
  await untilToldToStop();
  if (ground === undefined) say('Stopping: calls under way may end first.');
  await running.stop();
  process.exit(0); // A connection that a silent server never closes would keep the process.
}

/** Delivers webhooks until it is told to stop; a second signal ends it at once. */
async function runWork(config: Config, log: Log): Promise<never> {
  const database = await openDatabase({ config, log, say, mayShare: true });
  const work = startWork(config, log, database.url);
  say('Purser delivers webhooks.');
  await untilToldToStop();
  say('Stopping: attempts under way may end first.');
  await work.stop();
  await database.close();
  process.exit(0);
}

function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
  });
}

/** Faults that explain themselves are shown as their message; the others as bugs. */
function isExplained(fault: unknown): fault is Error {
  return (
    fault instanceof ConfigError ||
    fault instanceof StartError ||
    fault instanceof EmbeddedPostgresError ||
    fault instanceof MigrationError ||
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
      : `Purser could not go on.\n${JSON.stringify(describeFault(fault), undefined, 2)}`,
  );
  process.exit(1);
}
