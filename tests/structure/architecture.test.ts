import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { AREAS, PACKAGES } from '../../tools/structure/areas.ts';
import { ROOMS } from '../../tools/structure/rooms.ts';
import { namesIn, readDocument, rowsUnder } from '../documents/documents.ts';

/** Compares the tables of folders and rooms in documents with the tables that the imports are checked by. */

const NOT_FOLDERS = [...PACKAGES, 'examples', 'benchmarks'];

/** Returns how many folders an area stands on: one more than the highest that it may import. */
function levelOf(area: string): number {
  return Math.max(-1, ...(AREAS[area] ?? []).map(levelOf)) + 1;
}

/** The rooms of a folder, each with the rooms in it behind it. */
function roomsOf(folder: string): readonly string[] {
  const rooms = Object.keys(ROOMS[folder] ?? {});
  return rooms.flatMap((room) => [room, ...roomsOf(`${folder}/${room}`).map((inner) => `${room}/${inner}`)]);
}

function lastHeadingOf(area: string): string | undefined {
  return readDocument(`packages/service/src/${area}/README.md`)
    .match(/^## .*$/gm)
    ?.at(-1);
}

test('docs/ARCHITECTURE.md has each folder and its level', () => {
  const rows = rowsUnder('docs/ARCHITECTURE.md', '## The house');
  const told = new Map(rows.map(([, folder = '', ...what]) => [folder, what]));
  const folders = Object.keys(AREAS).filter((area) => !NOT_FOLDERS.includes(area));
  const right = folders
    .map((area) => [String(levelOf(area)), `\`${area}\``, ...(told.get(`\`${area}\``) ?? ['', ''])])
    .toSorted(([one], [other]) => Number(one) - Number(other));
  assert.deepEqual(rows, right, `The table is:\n${right.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
  assert.deepEqual(
    [...told].filter(([, what]) => what.includes('')),
    [],
    'Say what is in the folder, and with which file to begin.',
  );
});

test('each README of the service’s folders ends with what it leaves to others', () => {
  const folders = Object.keys(AREAS).filter((area) => !NOT_FOLDERS.includes(area));
  assert.deepEqual(
    folders.filter((area) => lastHeadingOf(area) !== '## What it leaves to others'),
    [],
  );
});

for (const area of Object.keys(ROOMS).filter((folder) => !folder.includes('/'))) {
  test(`the README of ${area} has each of its rooms, and what is in it`, () => {
    const rows = rowsUnder(`packages/service/src/${area}/README.md`, '## Rooms');
    const rooms = rows.map(([name = '']) => namesIn(name)[0]);
    assert.deepEqual(rooms, roomsOf(area), `The rooms are, in their order:\n${roomsOf(area).join('\n')}`);
    assert.deepEqual(
      rows.filter(([, what = '']) => what === ''),
      [],
      'Say what is in the room.',
    );
  });
}

test('app hands nothing on in bags', () => {
  const source = 'packages/service/src/app';
  const bags = globSync(`${source}/{compose.ts,{catalogue,cells,compose,monitoring,reports}/*.ts}`).filter((file) =>
    /\.\.\.(?:config|ground|pools|domains|needs|control|served|reports|developers)\b/.test(readDocument(file)),
  );
  assert.deepEqual(bags, [], 'Name what is handed on.');
  assert.doesNotMatch(readDocument(`${source}/compose.ts`), /\{[^{}]*\.\.\./);
});
