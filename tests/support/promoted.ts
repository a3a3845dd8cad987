import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

const AT_ONCE = 100;
const TURNS = 20;
const OLD_SPACES = ['old_space', 'large_object_space'];

/**
 * The share of what has ended that V8 moves to the old generation all the same, from 0 to 1. `begin` begins something that
 * keeps its argument, some 4 KB, until the function that it returns is called. A hundred at once are under way, as in a
 * service that is busy while V8 collects its whole heap.
 */
export function promotedShareOf(begin: (kept: object) => () => void): number {
  const under: (() => void)[] = [];
  const beginOne = (): void => void under.push(begin(Array.from({ length: 500 }, (_, index) => index + 0.5)));
  for (let one = 0; one < AT_ONCE; one += 1) beginOne();
  collect();
  const before = oldBytes();
  for (let one = 0; one < TURNS * AT_ONCE; one += 1) {
    beginOne();
    under.shift()?.();
    if (one % AT_ONCE === 0) collect({ type: 'minor' });
  }
  const promoted = oldBytes() - before;
  for (const end of under) end();
  return promoted / (TURNS * AT_ONCE * 4_000);
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => OLD_SPACES.includes(name));
  return spaces.reduce((bytes, { space_used_size: used }) => bytes + used, 0);
}
