const DISTANCE_MAX = 2;

/** The name that differs by at most two letters, the nearest first. Undefined if there is none. */
export function nearestTo(name: string, names: Iterable<string>): string | undefined {
  const near = Array.from(names, (other) => ({ other, distance: distanceOf(name, other) }))
    .filter(({ distance }) => distance <= DISTANCE_MAX)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.other;
}

/** How many letters have to be added, left out or replaced (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let y = 1; y <= a.length; y += 1) {
    const next = [y];
    for (let x = 1; x <= b.length; x += 1) {
      const replaced = (row[x - 1] ?? 0) + (a[y - 1] === b[x - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[x] ?? 0) + 1, (next[x - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
