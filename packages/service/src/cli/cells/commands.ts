import type { Command } from '@commander-js/extra-typings';
import type { Ends, Ground } from '#cli/ground/ground.ts';

const commands = () => import('#cli/cells/topology-command.ts');

/** Defines the commands about several databases that share the users of all apps. */
export function defineCells(program: Command, ends: Ends, ground: Ground): void {
  const cells = program.command('cells').description('Manage databases that share the users of all apps.');
  defineSlots(cells, ends, ground);
  defineCopies(cells, ends, ground);
  for (const command of cells.commands) command.helpGroup('Only for several databases:');
}

function defineSlots(cells: Command, ends: Ends, ground: Ground): void {
  const slots = ['<slots>', 'such as 17 or 0-2047'] as const;
  cells
    .command('list')
    .description('List the cells and their slots.')
    .action(ends(async () => ground.onDatabase((await commands()).listCells)));
  cells
    .command('find')
    .argument('<app>', 'the id of an app')
    .argument('<user>', 'one of its users')
    .description('Print which cell has this user of this app.')
    .action(ends(async (app, user) => ground.onDatabase((await commands()).finding(app, user))));
  cells
    .command('add')
    .argument('<name>')
    .description('Add a cell, or give a cell another address. The first one gets all slots.')
    .requiredOption('--at <address>', 'the address at which gateways of other cells reach it')
    .action(ends(async (name, options) => ground.onDatabase((await commands()).adding(name, options))));
  cells
    .command('assign')
    .argument(...slots)
    .description("Give slots of this database's cell to another one, as long as nobody in them has a wallet.")
    .requiredOption('--to <cell>', 'the cell that gets them')
    .action(ends(async (named, options) => ground.onDatabase((await commands()).assigning(named, options))));
  cells
    .command('move')
    .argument(...slots)
    .description(
      'Move slots with the money of their users, while calls run. They go from the database in DATABASE_URL to the one in ' +
        'PURSER_OTHER_DATABASE_URL.',
    )
    .requiredOption('--to <cell>', 'the cell that gets them')
    .option('--wait <seconds>', 'the seconds that running calls have to end', '300')
    .option('--back', 'give up a move that was killed')
    .action(
      ends(async (named, options) => {
        const { moving } = await import('#cli/cells/move-command.ts');
        return ground.onDatabase(moving(named, options));
      }),
    );
  cells
    .command('books')
    .description(
      'Print the money in each cell, and whether what has left cells has arrived in others. The exit status is 1 if it has not.',
    )
    .action(
      ends(async () => {
        const { printBooks } = await import('#cli/cells/books-command.ts');
        return ground.onDatabase((owner, { config }) => printBooks(owner, config));
      }),
    );
}

function defineCopies(cells: Command, ends: Ends, ground: Ground): void {
  cells
    .command('publish')
    .description('Offer the directory of this database (accounts, apps, keys, catalogue, cells) to other cells.')
    .action(ends(async () => ground.onDatabase((await commands()).publish)));
  cells
    .command('subscribe')
    .description(
      'Make an unused database a cell with a copy of the directory, or copy all of it again. PURSER_CELL is the name of the cell, and ' +
        'PURSER_DIRECTORY_URL the database with the directory. Run it also after an upgrade.',
    )
    .option('--at <address>', 'the public address at which the directory is changed')
    .option('--again', 'copy all of it again while the cell goes on, if the copy differs or its slot was lost')
    .action(ends(async (options) => ground.onDatabase((await commands()).subscribing(options))));
  cells
    .command('compare')
    .description("Compare this cell's copy of the directory with the directory. The exit status is 1 if it differs.")
    .action(
      ends(async () => {
        const { printComparison } = await import('#cli/cells/copy-command.ts');
        return ground.onDatabase((owner, { config }) => printComparison(owner, config));
      }),
    );
}
