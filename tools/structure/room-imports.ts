import { breaksOfDirection, type Table } from './direction.ts';
import type { Finding } from './finding.ts';
import { areaOf, isProduct, nameOf, type Project, type SourceFile } from './project.ts';

/** Which room of an area may import which. `folder-imports.ts` checks the imports between areas. */
export function checkRoomImports({ files, rules: { rooms } }: Project): readonly Finding[] {
  const tables = Object.entries(rooms).flatMap(([area, table]) =>
    breaksOfDirection(table).map((message) => tableFinding(`In \`${area}\`, ${message}`)),
  );
  const product = [...files.values()].filter(isProduct);
  return [...tables, ...product.flatMap((file) => checkFile(file, rooms[file.area]))];
}

/** A file directly in its area is in no room. */
function roomOf(path: string): string | undefined {
  const [, room, ...rest] = nameOf(path).split('/');
  return rest.length === 0 ? undefined : room;
}

function checkFile(file: SourceFile, table: Table | undefined): readonly Finding[] {
  const room = roomOf(file.path);
  if (table === undefined || room === undefined) return [];
  const allowed = Object.hasOwn(table, room) ? table[room] : undefined;
  if (allowed === undefined) {
    const message = `The room \`${file.area}/${room}\` has no row in tools/structure/rooms.ts. Add what it may import.`;
    return [{ rule: 'room-imports', file: file.path, line: 1, message, name: room }];
  }
  return file.imports.flatMap(({ target, line, specifier }) => {
    if (target === undefined || areaOf(target) !== file.area) return [];
    const to = roomOf(target);
    if (to === room || (to !== undefined && allowed.includes(to))) return [];
    const choice = allowed.length === 0 ? 'no other room' : allowed.map((name) => `\`${name}\``).join(', ');
    const message =
      `This file may not import \`${nameOf(target)}\`: the room \`${file.area}/${room}\` may import ${choice}. ` +
      'Move what both use into a lower room, or take it as a parameter.';
    return [{ rule: 'room-imports', file: file.path, line, message, name: specifier }];
  });
}

function tableFinding(message: string): Finding {
  return { rule: 'room-imports', file: 'tools/structure/rooms.ts', line: 1, message };
}
