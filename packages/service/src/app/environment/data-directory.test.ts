import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { dataDirectoryOf } from '#app/environment/data-directory.ts';

const of = (isInstalled: boolean, given?: string, dataHome?: string) =>
  dataDirectoryOf({ isInstalled, given, dataHome });

const CHECKOUT = path.resolve(import.meta.dirname, '../../../../..');

test('OP-02 data lives inside a checkout and outlives an installed program', () => {
  assert.equal(of(false), path.join(CHECKOUT, '.purser'));
  assert.equal(of(false, 'elsewhere'), path.join(CHECKOUT, 'elsewhere'));
  assert.equal(of(false, '/var/lib/purser', '/data'), '/var/lib/purser');

  assert.equal(of(true), path.join(homedir(), '.local/share/purser'));
  assert.equal(of(true, undefined, '/data'), '/data/purser');
  assert.equal(of(true, undefined, 'data'), path.join(homedir(), '.local/share/purser'), 'relative: ignored');
  assert.equal(of(true, 'elsewhere'), path.resolve('elsewhere'), 'from the current folder, as other programs do');
  assert.equal(of(true, '/var/lib/purser', '/data'), '/var/lib/purser');
});
