import type { Command } from '@commander-js/extra-typings';
import type { Ends, Ground } from '#cli/ground/ground.ts';

const commands = () => import('#cli/machine/backup-command.ts');

/** Defines the commands about the machine, the secret and backups. */
export function defineMachine(program: Command, ends: Ends, ground: Ground): void {
  program
    .command('doctor')
    .description(
      'Look for what is wrong, and say what to do. It looks at the settings, the machine, the database and everything that the service talks ' +
        'to, and changes nothing. The exit status is 1 if something is bad.',
    )
    .option('--json', 'print JSON, for programs')
    .option('--local', 'do not call anything outside of this machine and its database')
    .action(
      ends(async ({ json = false, local = false }) => {
        const { runDoctor } = await import('#cli/machine/doctor-command.ts');
        return runDoctor({ isJson: json, looksOutside: !local }, ground);
      }),
    );
  program
    .command('setup')
    .argument('<folder>')
    .description(
      'Write what one server needs into a folder. These are settings with a new secret, a catalogue to fill in, a unit for systemd, a command ' +
        'that runs others as the unit does, and a site for nginx or Caddy. It asks for what is missing, looks at the database that the variable DATABASE_URL names, and says what is left to do.',
    )
    .option('--url <address>', 'the address that people open, such as https://pay.example.com')
    .option('--name <name>', 'your name, for pages and mail')
    .option('--email <address>', 'the address for questions of end users')
    .option('--proxy <proxy>', 'nginx or caddy (default nginx)')
    .option('--replace', 'replace files that differ, and keep them as <name>.before')
    .action(
      ends(async (folder, options) => {
        const { setUp, terminalAsk } = await import('#cli/setup/setup-command.ts');
        const { readGivenDatabase } = await import('#app/settings/config.ts');
        return setUp(folder, options, readGivenDatabase(), terminalAsk());
      }),
    );
  program
    .command('upgrade')
    .description(
      'Say whether gateways can go over to this build one after another. It looks at the database, and changes nothing. The exit status is 1 if ' +
        'all have to be stopped.',
    )
    .requiredOption('--check', 'only look: a start of this build upgrades the database')
    .action(ends(async () => (await import('#cli/machine/upgrade-command.ts')).checkUpgrade(await ground.settings())));
  program
    .command('secret')
    .description('Change the secret of the database.')
    .command('replace')
    .description(
      'Make PURSER_SECRET the only secret of this database. Stop all gateways first. PURSER_SECRET_ALSO is the former secret.',
    )
    .option('--lost', 'give up what a lost secret protected, for good')
    .action(
      ends(async ({ lost = false }) => {
        const { replaceSecret } = await import('#cli/machine/secret-command.ts');
        return ground.onDatabase((owner, { config }) => replaceSecret(owner, config, { isLost: lost }));
      }),
    );
  defineBackup(program, ends, ground);
}

function defineBackup(program: Command, ends: Ends, ground: Ground): void {
  const folder = ['[folder]', 'the folder of backups (default PURSER_BACKUP_DIR)'] as const;
  const backup = program
    .command('backup')
    .description('Make, list, restore and check backups of the embedded database.');
  backup
    .command('create')
    .argument(...folder)
    .description('Back up the embedded database and the settlements on disk while the service runs.')
    .option('--keep <number>', 'keep this many backups, and remove older ones')
    .action(ends(async (named, options) => (await commands()).createIn(named, options, await ground.settings())));
  backup
    .command('list')
    .argument(...folder)
    .description('List the complete backups.')
    .action(ends(async (named) => (await commands()).listIn(named, await ground.settings())));
  backup
    .command('restore')
    .argument(...folder)
    .description('Restore into an empty data directory.')
    .option('--at <time>', 'go back to a moment, such as 2026-11-23T14:00:00Z')
    .option('--log <folder>', 'also read the log of a lost server')
    .option('--database <id>', 'the database, if the folder has backups of several')
    .action(ends(async (named, options) => (await commands()).restoreFrom(named, options, await ground.settings())));
  backup
    .command('check')
    .description('Check a restored database: books, audit trail, kept keys, counters.')
    .action(
      ends(async () => {
        const { printRestoredCheck } = await import('#cli/machine/restored-check.ts');
        return ground.onDatabase((owner, { config }) => printRestoredCheck(owner, config));
      }),
    );
  backup
    .command('accept')
    .description('Confirm that the original of a restored database is gone, so that gateways can start.')
    .action(ends(async () => ground.onDatabase((await commands()).acceptRestored)));
}
