import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { CellFault } from '../../../packages/service/src/cells/topology/cells.ts';
import { guardDirectory } from '../../../packages/service/src/cells/directory/copy.ts';
import { CommandError } from '../../../packages/service/src/cli/terminal/command-error.ts';
import { runHere } from '../../support/commands.ts';
import { createTestDatabase } from '../../support/database.ts';
import { sql } from '../../support/sql.ts';

/** What commands of cells say when they cannot go on because of a database. */

const database = await createTestDatabase();
after(() => database.close());

describe('cells', { concurrency: true }, () => {
  for (const [words, name] of [
    ['move 17 --to c2', 'PURSER_OTHER_DATABASE_URL'],
    ['subscribe --again', 'PURSER_DIRECTORY_URL'],
    ['subscribe --at https://c1.purser.test', 'PURSER_DIRECTORY_URL'],
  ] as const) {
    test(`CE-03 \`cells ${words}\` names an unusable database’s setting`, async (t) => {
      const withoutPassword = new URL(database.url);
      const { host } = withoutPassword;
      withoutPassword.password = '';
      const missing = new URL(database.url);
      missing.pathname = '/none';
      for (const [url, where, why] of [
        [withoutPassword.href, `${withoutPassword.pathname.slice(1)} at ${host}`, 'password'],
        [missing.href, `none at ${host}`, 'does not exist'],
        ['postgres://someone:hidden-word@127.0.0.1:1/there', 'there at 127.0.0.1:1', 'ECONNREFUSED'],
      ] as const) {
        const environment = { PURSER_CELL: 'c2', [name]: url };
        const fault = await runHere(t, ['cells', ...words.split(' ')], { owner: database.owner, environment }).then(
          () => assert.fail('it went on'),
          (thrown: unknown) => thrown,
        );
        assert.ok(fault instanceof CommandError, String(fault));
        assert.ok(fault.message.startsWith(`The database ${where} cannot be used (`), fault.message);
        assert.ok(fault.message.includes(why) && fault.message.includes(name), fault.message);
        for (const word of ['hidden-word', new URL(database.url).password]) assert.ok(!fault.message.includes(word));
      }
    });
  }

  test('CE-03 a locked copy is not a missing one', async () => {
    const holder = await database.owner.connect();
    await sql(holder)`begin; lock table accounts.apps in share mode`;
    try {
      await assert.rejects(
        guardDirectory(database.owner),
        (fault) =>
          fault instanceof CellFault && /^The directory is copied, .* holds one of its tables/.test(fault.message),
      );
    } finally {
      await sql(holder)`rollback`;
      holder.release();
    }
    await guardDirectory(database.owner);
  });
});
