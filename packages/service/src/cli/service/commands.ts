import type { Command } from '@commander-js/extra-typings';
import type { Ends, Ground } from '#cli/ground/ground.ts';

/** Collects the values of an option that can be repeated. */
const more = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

/** Defines the commands that run the service, and those about people and the catalogue. */
export function defineService(program: Command, ends: Ends, ground: Ground): void {
  defineProcesses(program, ends, ground);
  defineListen(program, ends);
  defineCatalogue(program, ends, ground);
  defineOperator(program, ends, ground);
}

function defineProcesses(program: Command, ends: Ends, ground: Ground): void {
  program
    .command('serve')
    .description('Start the service, as `npm start` does.')
    .action(ends(async () => (await import('#cli/service/serve-command.ts')).runService(await ground.settings())));
  program
    .command('work')
    .description('Deliver webhooks in a process that does nothing else.')
    .action(ends(async () => (await import('#cli/service/work-command.ts')).runWork(await ground.settings())));
  program
    .command('migrate')
    .description('Bring the database schema up to date.')
    .action(ends(() => ground.onDatabase(async () => console.error('The database schema is up to date.'))));
  program
    .command('seed')
    .description('Create the demo account, app, keys and user.')
    .action(ends(async () => ground.withAddresses((await import('#cli/service/seed-command.ts')).printDemo)));
}

function defineListen(program: Command, ends: Ends): void {
  program
    .command('listen')
    .description(
      "Forward copies of an app's new events to an address on this machine. The listen token of the app's Webhooks page comes from " +
        'PURSER_LISTEN_TOKEN or standard input, or is asked for.',
    )
    .requiredOption('--app <app>', 'the id of the app')
    .requiredOption('--forward <address>', 'the address that gets its events, such as http://localhost:3000/hook')
    .option('--url <service>', 'the service (default PURSER_URL, or else http://127.0.0.1:8787)')
    .option('--events <types>', 'only events of these types, separated by commas')
    .option('--threshold <micros>', 'forward balance.low too, when an available balance falls below this')
    .action(ends(async (options) => (await import('#cli/listen/listen-command.ts')).listen(options)));
}

function defineCatalogue(program: Command, ends: Ends, ground: Ground): void {
  const catalogue = program.command('catalogue').description('Work with models, upstreams and prices.');
  catalogue
    .command('import')
    .argument('<file>')
    .description('Replace the catalogue with a file.')
    .action(
      ends(async (file) => {
        const { importCatalogue, readCatalogueFile } = await import('#cli/models/catalogue-command.ts');
        const text = readCatalogueFile(file);
        return ground.onDatabase((owner) => importCatalogue(owner, text));
      }),
    );
  definePrices(catalogue, ends, ground);
  catalogue
    .command('probe')
    .argument('<model>')
    .description(
      'Find out with a few small calls what the upstreams of a model can do, and propose an entry. The calls use your keys, and tell whether ' +
        'output limits are honoured, usage is reported, and streams, tools, JSON schemas and the developer role work. Nothing is changed. ' +
        'Without --yes it only says how many calls it would make and what they may cost. The exit status is 1 if an upstream could not be ' +
        'probed.',
    )
    .option('--yes', 'make the calls')
    .option(
      '--catalogue <file>',
      'the catalogue file (default PURSER_CATALOGUE); a model that is new there needs no price yet',
    )
    .option('--provider <name>', 'only the upstreams at this provider')
    .option(
      '--fill-context',
      "also send one prompt that is longer than the model's context: it may cost as much as a full context",
    )
    .action(
      ends(async (model, options) => {
        const { probeModel } = await import('#cli/models/probe-command.ts');
        return probeModel(model, options, (await ground.settings()).config);
      }),
    );
}

function definePrices(catalogue: Command, ends: Ends, ground: Ground): void {
  catalogue
    .command('prices')
    .description(
      'Compare the prices of a catalogue file with a public list, and write new ones. The list of models.dev is checked against a second one ' +
        '(@pydantic/genai-prices). Nothing is changed by itself. To change prices, let it write a new catalogue file, read that file, and ' +
        'apply it with `catalogue import`. A price is refused if it is negative, zero or incomplete, if it looks like another unit, if ' +
        'it would change 50 times or more, or if the two lists differ by more than a hundredth. The exit status is 1 if a price was refused.',
    )
    .option('--list <place>', 'the price list, a file or an address (default https://models.dev/api.json)')
    .option('--catalogue <file>', 'the catalogue file (default PURSER_CATALOGUE)')
    .option('--write <file>', 'write a new catalogue file with the new prices; refused ones stay as they are')
    .option('--from <time>', 'with --write: the new prices are in force from then on, such as 2026-12-01T00:00:00Z')
    .option(
      '--dollar <rate>',
      'how much of your currency a US dollar is, such as 0.92; needed unless PURSER_CURRENCY is USD',
    )
    .option('--model <model>', 'only this model of the catalogue; can be repeated', more)
    .option(
      '--as <ours=theirs>',
      'where to look in the list: <provider>=<provider of the list>, or <provider>/<provider model>=<provider of the list>/<model ' +
        'of the list>; can be repeated',
      more,
    )
    .option(
      '--without-check <model>',
      'take the price of this model although the second list does not confirm it; can be repeated',
      more,
    )
    .action(
      ends(async (options) => {
        const { comparePrices } = await import('#cli/models/prices-command.ts');
        return comparePrices(options, (await ground.settings()).config);
      }),
    );
}

function defineOperator(program: Command, ends: Ends, ground: Ground): void {
  const operator = program.command('operator').description('Manage the accounts of operators.');
  operator
    .command('create')
    .description('Create an operator account. It asks for the password, or reads it from standard input.')
    .requiredOption('--email <address>', 'the e-mail with which they sign in')
    .option('--name <name>', 'their name')
    .action(
      ends(async (options) => {
        const { createOperator, readNewOperator } = await import('#cli/service/operator-command.ts');
        const wanted = await readNewOperator(options, process.stdin, (text) => process.stderr.write(text));
        return ground.withAddresses((owner) => createOperator(owner, wanted));
      }),
    );
  operator
    .command('enrol')
    .description('Print the code with which an operator adds their first second factor.')
    .requiredOption('--email <address>', 'the e-mail of the operator')
    .action(
      ends(async ({ email }) =>
        ground.withAddresses((await import('#cli/service/operator-command.ts')).enrolling(email)),
      ),
    );
}
