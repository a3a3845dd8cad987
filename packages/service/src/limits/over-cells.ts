import type { BucketOwner, RateLimiter } from '#limits/rate-limit.ts';

interface OverCellsOptions<Cell extends { readonly name: string }> {
  /** The limiter of the buckets in this cell. */
  readonly own: RateLimiter;
  /** The other cell that has a bucket. Undefined if this one has. */
  readonly homeOf: (owner: BucketOwner) => Cell | undefined;
  /** A limiter for the buckets in the cell of this name. `home` says how the map last had it. */
  readonly limiterOf: (name: string, home: () => Cell) => RateLimiter;
}

/** One limiter for the buckets of each cell, so that no call waits for a cell other than the home of its bucket. */
export function limitOverCells<Cell extends { readonly name: string }>({
  own,
  homeOf,
  limiterOf,
}: OverCellsOptions<Cell>): RateLimiter {
  const others = new Map<string, { readonly limiter: RateLimiter; readonly see: (home: Cell) => void }>();

  function openOther(home: Cell) {
    let latest = home;
    const other = { limiter: limiterOf(home.name, () => latest), see: (seen: Cell) => void (latest = seen) };
    others.set(home.name, other);
    return other;
  }

  return {
    take: (owner, limits) => {
      const home = homeOf(owner);
      if (home === undefined) return own.take(owner, limits);
      const { limiter, see } = others.get(home.name) ?? openOther(home);
      see(home);
      return limiter.take(owner, limits);
    },
    stop: async () => {
      const all = [own, ...Array.from(others.values(), ({ limiter }) => limiter)];
      await Promise.all(all.map(({ stop }) => stop()));
    },
  };
}
