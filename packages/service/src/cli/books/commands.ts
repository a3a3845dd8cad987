import type { Command } from '@commander-js/extra-typings';
import type { Ends, Ground } from '#cli/ground/ground.ts';

const months = () => import('#cli/books/months-command.ts');

/** Defines the commands that check, compare and archive what is in the books. */
export function defineBooks(program: Command, ends: Ends, ground: Ground): void {
  defineLedger(program, ends, ground);
  defineFiles(program, ends, ground);
  program
    .command('audit')
    .description('Check the audit trail.')
    .command('check')
    .description("Walk the audit trail's chain of hashes and report each line that was changed, removed or inserted.")
    .option('--head <line:hash>', 'also compare a line with what the log or `/operator/audit/head` once said')
    .action(
      ends(async ({ head }) => {
        const { printAuditCheck, readHead } = await import('#cli/books/audit-command.ts');
        const known = readHead(head);
        return ground.onDatabase((owner, { config }) => printAuditCheck(owner, config, known));
      }),
    );
  program
    .command('stats')
    .description('Rebuild the statistics of calls.')
    .command('rebuild')
    .description('Rebuild the statistics of calls from receipts and traces.')
    .option('--from <day>', 'the first UTC day, such as 2026-11-01')
    .option('--to <day>', 'the day after the last one')
    .action(
      ends(async (options) => {
        const { printRebuild, readDays } = await import('#cli/books/stats-command.ts');
        const days = readDays(options);
        return ground.onDatabase((owner) => printRebuild(owner, days));
      }),
    );
}

function defineLedger(program: Command, ends: Ends, ground: Ground): void {
  const month = ['<month>', 'such as 2026-07'] as const;
  const ledger = program
    .command('ledger')
    .description('Check the books, and close, archive and restore months of receipts.');
  ledger
    .command('check')
    .description('Recompute every balance and report each difference.')
    .option('--incremental', 'look only at wallets that changed since they were last found right')
    .action(
      ends(async ({ incremental = false }) => {
        const { printLedgerCheck } = await import('#cli/books/ledger-command.ts');
        return ground.onDatabase((owner) => printLedgerCheck(owner, { isIncremental: incremental }));
      }),
    );
  ledger
    .command('told')
    .argument('<file...>', 'JSON logs and settlement files of gateways; `-` is standard input')
    .description('Compare the charges that callers were told with the books.')
    .action(
      ends(async (files) => {
        const { printTold } = await import('#cli/books/ledger-command.ts');
        return ground.onDatabase((owner) => printTold(owner, files));
      }),
    );
  ledger
    .command('months')
    .description('List the months of receipts.')
    .action(ends(async () => ground.onDatabase((await months()).listMonths)));
  ledger
    .command('close-month')
    .argument(...month)
    .description('Check, add up and seal a month that has ended, for good.')
    .action(ends(async (name) => ground.onDatabase((await months()).closing(name))));
  ledger
    .command('archive')
    .argument(...month)
    .description('Write a closed month as CSV, and read it back.')
    .requiredOption('--to <folder>', 'where to write it')
    .action(ends(async (name, options) => ground.onDatabase((await months()).archiving(name, options))));
  ledger
    .command('detach')
    .argument(...month)
    .description('Take an archived month out of the database, 13 months after its end.')
    .requiredOption('--archive <folder>', 'where the archive is')
    .option('--early', 'do not wait for the 13 months')
    .action(ends(async (name, options) => ground.onDatabase((await months()).detaching(name, options))));
  ledger
    .command('restore-month')
    .argument('<file>', 'the file of the archive')
    .description('Bring a month back into the database.')
    .action(ends(async (file) => ground.onDatabase((await months()).restoring(file))));
}

function defineFiles(program: Command, ends: Ends, ground: Ground): void {
  program
    .command('bill')
    .argument('<file>', 'the JSON of the provider, as it came')
    .description('Compare what a provider says it billed with the receipts, by UTC day and model.')
    .requiredOption('--provider <name>', 'the name of the provider in the catalogue')
    .requiredOption('--format <format>', 'openrouter, anthropic or openai')
    .requiredOption('--from <day>', 'the first UTC day, such as 2026-11-01')
    .requiredOption('--to <day>', 'the day after the last one')
    .option('--dollar <amount>', 'what a US dollar was worth in your currency, unless that is the US dollar')
    .action(
      ends(async (file, options) => {
        const { printBill, readBill } = await import('#cli/books/bill-command.ts');
        const bill = readBill(file, options);
        return ground.onDatabase((owner, { config }) => printBill(owner, config.currency, bill));
      }),
    );
  program
    .command('reconcile')
    .argument('[file]', "Stripe's itemized balance report (CSV); without it, Stripe's own list is read")
    .description("Compare Stripe's report of some UTC days with the books, and file it if it is clean.")
    .requiredOption('--from <day>', 'the first UTC day, such as 2026-11-01')
    .requiredOption('--to <day>', 'the day after the last one')
    .action(
      ends(async (file, options) => {
        const { printReconciliation, readPeriod } = await import('#cli/books/reconcile-command.ts');
        const period = readPeriod(options);
        return ground.withAddresses((owner, { config }) => printReconciliation(owner, config, { file, period }));
      }),
    );
}
