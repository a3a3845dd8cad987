import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { importCatalogue } from '#cli/catalogue-command.ts';
import type { Pool } from '#db/pool.ts';

test('`catalogue import` says that it cannot read a file, before it uses the database', async () => {
  const unused: Pool = undefined as never;
  await assert.rejects(
    importCatalogue(unused, '/no/such/catalogue.json'),
    new CatalogueFileError('The catalogue `/no/such/catalogue.json` cannot be read.'),
  );
  await assert.rejects(importCatalogue(unused, undefined), /Name the file/);
});
