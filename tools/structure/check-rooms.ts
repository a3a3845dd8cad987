import { dirname } from 'node:path/posix';
import { IMPORTERS_MAX } from './areas.ts';
import { FACES } from './faces.ts';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';
import { ROOMS } from './rooms.ts';
import { SERVICE, type ServiceFile, serviceFiles } from './service-files.ts';

/** More files in one folder than these are a hall: nobody finds anything in it. */
const FILES_MAX = 15;

/** Checks that each file of the service stands in a room of the tables, that no folder is a hall, and that few import what few should know. */
export function checkRooms(tree: Tree): readonly Finding[] {
  const files = [...serviceFiles(tree, '.ts'), ...serviceFiles(tree, '.sql')];
  return [...files.flatMap(checkPlace), ...checkSizes(files), ...checkImporters(files)];
}

function checkPlace({ path, name }: ServiceFile): readonly Finding[] {
  const parts = name.split('/');
  const file = parts.pop() ?? '';
  const at = (message: string): readonly Finding[] => [{ rule: 'rooms', file: path, line: 1, message }];
  for (let depth = 1; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join('/');
    const room = parts[depth] ?? '';
    if (ROOMS[folder]?.[room] === undefined)
      return at(
        `\`${room}\` is no room of \`${folder}\`. Add a row to tools/structure/rooms.ts, or choose a room that is there.`,
      );
  }
  const folder = parts.join('/');
  if (ROOMS[folder] === undefined || FACES[folder]?.split(' ').includes(file) === true) return [];
  return at(`A file of \`${folder}\` stands in one of its rooms, or tools/structure/faces.ts names it.`);
}

function checkSizes(files: readonly ServiceFile[]): readonly Finding[] {
  const sizes = new Map<string, number>();
  for (const { name } of files) sizes.set(dirname(name), (sizes.get(dirname(name)) ?? 0) + 1);
  return [...sizes]
    .filter(([, size]) => size > FILES_MAX)
    .map(([folder, size]) => ({
      rule: 'room-sizes',
      file: `${SERVICE}${folder}`,
      line: 1,
      message: `${size} files are too many for one folder: ${FILES_MAX} at most. Give it rooms.`,
    }));
}

function checkImporters(files: readonly ServiceFile[]): readonly Finding[] {
  return Object.entries(IMPORTERS_MAX).flatMap(([folder, most]) => {
    const importers = files.filter((file) => file.folder !== folder && file.text.includes(`'#${folder}/`));
    const message = `${importers.length} files outside import from \`${folder}\`: ${most} at most. Hand them a port of it.`;
    return importers.length > most ? [{ rule: 'importers', file: `${SERVICE}${folder}`, line: 1, message }] : [];
  });
}
