import { checkCode } from './check-code.ts';
import { checkFiles } from './check-files.ts';
import { checkRooms } from './check-rooms.ts';
import { checkSql } from './check-sql.ts';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

/** Holds a tree of files against the rules that no kept tool knows. */
export function inspect(tree: Tree): readonly Finding[] {
  return [...checkCode(tree), ...checkSql(tree), ...checkFiles(tree), ...checkRooms(tree)];
}
