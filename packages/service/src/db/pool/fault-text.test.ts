import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { faultFrom, faultTextOf } from '#db/pool/fault-text.ts';
import { isItemFault, isServerFault, isSilence, sqlStateOf } from '#db/pool/pool.ts';

const ofServer = (code: string, routine?: string): Error =>
  Object.assign(new pg.DatabaseError('made by a test', 0, 'error'), { code, routine });

const verdictOf = (fault: unknown): readonly unknown[] => [
  sqlStateOf(fault),
  isServerFault(fault),
  isItemFault(fault),
  isSilence(fault),
  fault instanceof Error && fault.message,
];

for (const [what, fault] of [
  ['a locked row', ofServer('55P03')],
  ['a violated constraint', ofServer('23505')],
  ['a record of another build', ofServer('22P02', 'record_in')],
  ['a server that stops', ofServer('57P01')],
  ['a lost connection', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ['a silent server', new Error('Query read timeout')],
  ['a server that accepts and says nothing', new Error('Connection terminated due to connection timeout')],
  ['a bug of ours', new TypeError('x is not a function')],
] as const) {
  test(`WA-17 ${what} is judged alike in the asking and running process`, () => {
    assert.deepEqual(verdictOf(faultFrom(faultTextOf(fault))), verdictOf(fault));
  });
}
