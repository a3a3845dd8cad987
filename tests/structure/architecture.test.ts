import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AREAS, PACKAGES } from '../../tools/structure/areas.ts';
import { ROOMS } from '../../tools/structure/rooms.ts';
import { namesIn, rowsUnder } from '../documents/documents.ts';

/** Compares the tables of folders and rooms in documents with the tables that the imports are checked by. */

const NOT_FOLDERS = [...PACKAGES, 'examples', 'benchmarks'];
/** The rooms of the pages are listed with what is in them, where the pages are described. */
const ROOMS_OF_PAGES = '[its README](../packages/service/src/web/README.md)';

/** Returns how many folders an area stands on: one more than the highest that it may import. */
function levelOf(area: string): number {
  return Math.max(-1, ...(AREAS[area] ?? []).map(levelOf)) + 1;
}

const inCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

test('docs/ARCHITECTURE.md has each folder, level and room', () => {
  const rows = rowsUnder('docs/ARCHITECTURE.md', '## The house');
  const told = new Map(rows.map(([, folder = '', what = '']) => [folder, what]));
  const folders = Object.keys(AREAS).filter((area) => !NOT_FOLDERS.includes(area));
  const right = folders
    .map((area) => [
      String(levelOf(area)),
      inCode([area]),
      told.get(inCode([area])) ?? '',
      area === 'web' ? ROOMS_OF_PAGES : inCode(roomsOf(area)),
    ])
    .toSorted(([one], [other]) => Number(one) - Number(other));
  assert.deepEqual(rows, right, `The table is:\n${right.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
  assert.deepEqual(
    [...told].filter(([, what]) => what === ''),
    [],
    'Say what is in the folder.',
  );
});

test('the README of the pages has each room once', () => {
  const rooms = rowsUnder('packages/service/src/web/README.md', '## Rooms').map(([name = '']) => namesIn(name)[0]);
  assert.deepEqual(rooms, roomsOf('web'));
});

function roomsOf(area: string): readonly string[] {
  return Object.keys(ROOMS[area] ?? {});
}
