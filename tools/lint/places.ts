import { ALLOWED_IMPORTS, AREAS, FILE_IMPORTS, PACKAGES } from '../structure/areas.ts';
import { ROOMS } from '../structure/rooms.ts';
import { MODULES, TYPES_OF } from './modules.ts';
import { RESTRICTED } from './restricted.ts';

/**
 * A place is an area (`ledger`), a room of one (`ledger/hold`), a room within that (`web/console/calls`) or a file (`mail/smtp.ts`), all
 * without `packages/service/src`.
 */
export type Place = string;

export const ROOT_FOLDERS = ['examples', 'benchmarks'];
/** Paths that leave a folder again, and would match what they begin with. */
const ROUNDABOUT = ['**/[a-z@#]*/**/../**', './../**'];
const ABOVE_THEM = ['packages', 'tests', 'tools', 'scripts', ...ROOT_FOLDERS];

/**
 * All places, the wide ones first: oxlint takes the last override of a rule. Files of an area with rooms are in one of its
 * rooms or directly in the area, so a room without a row in the table may import nothing of ours.
 */
export const PLACES: readonly Place[] = [
  ...Object.keys(AREAS),
  ...Object.entries(ROOMS)
    .flatMap(([folder, rooms]) => Object.keys(rooms).map((room) => `${folder}/${room}`))
    .toSorted((one, other) => one.split('/').length - other.split('/').length),
  ...new Set(
    [
      ...[...Object.values(MODULES), ...Object.values(TYPES_OF)].flatMap(namesIn),
      ...RESTRICTED.flatMap(({ allowed }) => namesIn(allowed)),
      ...Object.keys({ ...ALLOWED_IMPORTS, ...FILE_IMPORTS }),
    ].filter(isFile),
  ),
];

function namesIn(text: string): readonly string[] {
  return text.split(/\s+/).filter((name) => name !== '');
}

function isFile(place: Place): boolean {
  return place.endsWith('.ts');
}

/** Whether the names in `row` give their right to `place`, which may be within one of them. */
export function isGiven(row: string, place: Place): boolean {
  return namesIn(row).some((name) => place === name || place.startsWith(`${name}/`));
}

/** The files of a place as a glob from the root of the repository. */
export function globOf(place: Place): string {
  const [area = '', ...rest] = place.split('/');
  const within = isFile(place) ? rest : [...rest, Object.hasOwn(ROOMS, place) ? '*.ts' : '**/*.ts'];
  return [folderOf(area), ...within].join('/');
}

function folderOf(area: string): string {
  if (ROOT_FOLDERS.includes(area)) return area;
  return PACKAGES.includes(area) ? `packages/${area}/src` : `packages/service/src/${area}`;
}

/** What may be imported at a place from this repository, as patterns like those of `.gitignore`: the last that matches counts. */
export function ownImportsAt(place: Place): readonly string[] {
  const [area = ''] = place.split('/');
  const { only, never = '' } = FILE_IMPORTS[place] ?? {};
  const table = [...withinArea(place), ...(AREAS[area] ?? [])].filter(
    (name) => only === undefined || isGiven(only, name),
  );
  const single = [ALLOWED_IMPORTS[place] ?? '', only ?? ''].flatMap(namesIn).filter(isFile);
  const allowed = [...table.filter((name) => !isGiven(never, name)), ...single];
  const specifiers = allowed.flatMap((name) => specifiersOf(name, area));
  const refused = namesIn(never).filter(isFile);
  const beside = refused.map((name) => `./${name.slice(name.lastIndexOf('/') + 1)}`);
  return [
    ...relativeImportsIn(area),
    ...specifiers.map((specifier) => `!${specifier}`),
    ...refused.map((name) => `\\#${name}`),
    ...beside,
    ...ROUNDABOUT,
  ];
}

/** The rooms of its own area that a place may import: its own, and those that the rows of the rooms around it name. */
function withinArea(place: Place): readonly Place[] {
  const [area = '', ...rest] = place.split('/');
  const rooms: Place[] = [];
  let folder = area;
  for (const name of rest) {
    const row = ROOMS[folder]?.[name];
    if (row === undefined) break;
    rooms.push(...row.map((room) => `${folder}/${room}`));
    folder = `${folder}/${name}`;
  }
  return [folder, ...rooms];
}

/** Relative imports stay in the area. In the service they stay in the folder: everything else has a name that begins with `#`. */
function relativeImportsIn(area: string): readonly string[] {
  if (ROOT_FOLDERS.includes(area)) return ['!./**', '!../**', ...ABOVE_THEM.map((folder) => `**/${folder}/**`)];
  return PACKAGES.includes(area) ? ['!./**', '!../*'] : ['!./*'];
}

function specifiersOf(place: Place, from: string): readonly string[] {
  const [area = '', ...rest] = place.split('/');
  const whole = Object.hasOwn(ROOMS, place)
    ? ['*', ...Object.keys(ROOMS[place] ?? {}).map((room) => `${room}/**`)]
    : ['**'];
  const within = isFile(place) ? [rest.join('/')] : whole.map((files) => [...rest, files].join('/'));
  const starts = [
    PACKAGES.includes(area) ? `@purser/${area}` : `#${area}`,
    ...(ROOT_FOLDERS.includes(from) ? [`**/${folderOf(area)}`] : []),
  ];
  return starts.flatMap((start) => within.map((files) => `${start}/${files}`));
}
