import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CatalogueFileError } from '#catalogue/catalogue-file.ts';
import { readCatalogueFile } from '#cli/models/catalogue-command.ts';

test('OP-01 `catalogue import` reports an unreadable file before using the database', () => {
  assert.throws(
    () => readCatalogueFile('/no/such/catalogue.json'),
    new CatalogueFileError('The catalogue `/no/such/catalogue.json` cannot be read.'),
  );
});
