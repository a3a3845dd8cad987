import type { Finding } from './finding.ts';
import type { Project } from './project.ts';

/** Files that import one another in a circle, over all packages. Imports of types count: they show the direction too. */
export function checkCycles({ files }: Project): readonly Finding[] {
  const graph = new Map<string, readonly string[]>();
  for (const file of files.values()) {
    const targets = file.imports.flatMap(({ target }) => (target !== undefined && files.has(target) ? [target] : []));
    graph.set(file.path, targets);
  }
  return findCycles(graph).map((cycle) => {
    const [file = '', next] = cycle;
    const line = files.get(file)?.imports.find(({ target }) => target === next || cycle.length === 1)?.line ?? 1;
    const path = [...cycle, file].join(' -> ');
    const message = `Files import one another: ${path}. Move what they share into a file of its own, or hand it in.`;
    return { rule: 'import-cycles', file, line, message };
  });
}

/**
 * Cycles that share no node, each the shortest through its first; none when the graph has a direction. One wrong import
 * can close many cycles: those through a node already named are left out, since mending the first may mend them.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const named = new Set<string>();
  for (const start of [...graph.keys()].toSorted()) {
    if (named.has(start)) continue;
    const cycle = shortestWayBack(graph, start, named);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const node of cycle) named.add(node);
  }
  return cycles;
}

/** The shortest way from `start` to itself that keeps off the nodes in `without`. */
function shortestWayBack(
  graph: ReadonlyMap<string, readonly string[]>,
  start: string,
  without: ReadonlySet<string>,
): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const node of queue) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return wayTo(cameFrom, node);
      if (cameFrom.has(next) || without.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const way = [end];
  for (let node = cameFrom.get(end); node !== undefined; node = cameFrom.get(node)) way.unshift(node);
  return way;
}
