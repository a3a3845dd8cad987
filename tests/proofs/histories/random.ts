/** A random stream from a seed. The same seed and name give the same choices on every machine. */
export interface Random {
  /** Draws a fraction from 0 inclusive to 1 exclusive. */
  readonly fraction: () => number;
  /** A whole number, both bounds included. */
  readonly whole: (least: number, most: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly shuffle: <Item>(items: readonly Item[]) => readonly Item[];
}

/** `name` separates the streams of one seed, so that draws from one never shift another. */
export function createRandom(seed: number, name: string): Random {
  let state = hashOf(`${seed}/${name}`);
  // mulberry32: small, and good enough to scatter kills and prices.
  function fraction(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const whole = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    pick: (items) => {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new Error('There is no item to pick from.');
      return item;
    },
    shuffle: (items) => {
      const keyed = items.map((item) => ({ item, key: fraction() }));
      return keyed.toSorted((left, right) => left.key - right.key).map(({ item }) => item);
    },
  };
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 16_777_619);
  // Streams of names that differ in one digit must not begin alike.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
