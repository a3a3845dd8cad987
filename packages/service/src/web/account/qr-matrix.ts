/** The modules of a QR code, row by row: true is dark. */
export type QrMatrix = readonly (readonly boolean[])[];

/**
 * Tables 9 and following of ISO/IEC 18004, for error correction level L, by version: the correction bytes of a block, and the
 * blocks. Level L suffices on a screen. Version 20 holds 858 bytes, more than the longest address that we write.
 */
const CORRECTION_BYTES = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];
const VERSION_MAX = BLOCKS.length;
const LEVEL_L = 1;
/**
 * The format has level L in the upper bits and mask 0 (a chessboard) in the lower ones. Every reader takes every mask.
 */
const FORMAT = LEVEL_L << 3;

interface Version {
  readonly version: number;
  readonly size: number;
  readonly correctionBytes: number;
  readonly blocks: number;
  /** The number of data and correction bytes together. */
  readonly bytes: number;
}

/** The QR code of a text, in byte mode. Undefined when the text does not fit. */
export function qrMatrixOf(text: string): QrMatrix | undefined {
  const bytes = Buffer.from(text);
  const version = versionFor(bytes.length);
  if (version === undefined) return undefined;
  const grid = createGrid(version.size);
  drawPatterns(grid, version);
  drawBytes(grid, interleaved(version, dataOf(version, bytes)));
  return grid.rows();
}

/** The smallest version that holds so many bytes. */
function versionFor(length: number): Version | undefined {
  for (let version = 1; version <= VERSION_MAX; version += 1) {
    const [correctionBytes = 0, blocks = 0] = [CORRECTION_BYTES[version - 1], BLOCKS[version - 1]];
    const bytes = Math.floor(modulesFor(version) / 8);
    const overhead = (4 + countBits(version)) / 8;
    const size = version * 4 + 17;
    if (length + overhead <= bytes - correctionBytes * blocks) return { version, size, correctionBytes, blocks, bytes };
  }
  return undefined;
}

function countBits(version: number): number {
  return version < 10 ? 8 : 16;
}

/** The modules that hold bytes: all but the patterns. */
function modulesFor(version: number): number {
  const all = (16 * version + 128) * version + 64;
  if (version < 2) return all;
  const aligned = Math.floor(version / 7) + 2;
  return all - ((25 * aligned - 10) * aligned - 55) - (version < 7 ? 0 : 36);
}

/** Returns the mode, the length, the bytes, and padding. */
function dataOf({ version, bytes, correctionBytes, blocks }: Version, content: Buffer): Uint8Array {
  const capacity = bytes - correctionBytes * blocks;
  const bits = [0b0100, content.length, ...content].map((value, at) => {
    const width = at === 0 ? 4 : at === 1 ? countBits(version) : 8;
    return value.toString(2).padStart(width, '0');
  });
  const text = bits.join('').padEnd((content.length + 2 + (version < 10 ? 0 : 1)) * 8, '0');
  const data = Uint8Array.from({ length: capacity }, (_none, at) => Number.parseInt(text.slice(at * 8, at * 8 + 8), 2));
  for (let at = text.length / 8; at < capacity; at += 1) data[at] = (at - text.length / 8) % 2 === 0 ? 0xec : 0x11;
  return data;
}

/** The blocks with their correction bytes, mixed byte by byte, so that a scratch harms many blocks a little. */
function interleaved({ bytes, blocks, correctionBytes }: Version, data: Uint8Array): Uint8Array {
  const shortLength = Math.floor(bytes / blocks) - correctionBytes;
  const short = blocks - (bytes % blocks);
  const divisor = divisorOf(correctionBytes);
  let from = 0;
  const all = Array.from({ length: blocks }, (_none, at) => {
    const block = data.subarray(from, (from += shortLength + (at < short ? 0 : 1)));
    return { block, correction: remainderOf(block, divisor) };
  });
  const mixed: number[] = [];
  for (let at = 0; at <= shortLength; at += 1) {
    for (const { block } of all) if (at < block.length) mixed.push(block[at] ?? 0);
  }
  for (let at = 0; at < correctionBytes; at += 1) {
    for (const { correction } of all) mixed.push(correction[at] ?? 0);
  }
  return Uint8Array.from(mixed);
}

/** Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function times(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((right >>> bit) & 1) * left;
  }
  return product;
}

/** The Reed-Solomon generator: (x - 1)(x - 2)(x - 4)..., without its leading 1. */
function divisorOf(degree: number): Uint8Array {
  const divisor = new Uint8Array(degree);
  divisor[degree - 1] = 1;
  let root = 1;
  for (let factor = 0; factor < degree; factor += 1) {
    for (let at = 0; at < degree; at += 1) divisor[at] = times(divisor[at] ?? 0, root) ^ (divisor[at + 1] ?? 0);
    root = times(root, 2);
  }
  return divisor;
}

function remainderOf(data: Uint8Array, divisor: Uint8Array): Uint8Array {
  const rest = new Uint8Array(divisor.length);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest.copyWithin(0, 1);
    rest[rest.length - 1] = 0;
    for (const [at, coefficient] of divisor.entries()) rest[at] = (rest[at] ?? 0) ^ times(coefficient, factor);
  }
  return rest;
}

interface Grid {
  readonly size: number;
  /** A module of a pattern. No byte is drawn over it. */
  readonly fix: (x: number, y: number, isDark: boolean) => void;
  readonly isFixed: (x: number, y: number) => boolean;
  readonly draw: (x: number, y: number, isDark: boolean) => void;
  readonly rows: () => QrMatrix;
}

function createGrid(size: number): Grid {
  const dark = new Uint8Array(size * size);
  const fixed = new Uint8Array(size * size);
  const draw = (x: number, y: number, isDark: boolean): void => void (dark[y * size + x] = isDark ? 1 : 0);
  return {
    size,
    fix: (x, y, isDark) => {
      if (x < 0 || y < 0 || x >= size || y >= size) return;
      draw(x, y, isDark);
      fixed[y * size + x] = 1;
    },
    isFixed: (x, y) => fixed[y * size + x] === 1,
    draw,
    rows: () =>
      Array.from({ length: size }, (_none, y) => [...dark.subarray(y * size, (y + 1) * size)].map((one) => one === 1)),
  };
}

function drawPatterns({ size, fix }: Grid, { version }: Version): void {
  for (let at = 0; at < size; at += 1) {
    fix(6, at, at % 2 === 0);
    fix(at, 6, at % 2 === 0);
  }
  const places = alignmentsOf(version, size);
  const last = places.length - 1;
  for (const [row, y] of places.entries()) {
    for (const [column, x] of places.entries()) {
      const isCorner = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
      if (!isCorner) square(fix, [x, y], 2, (distance) => distance !== 1);
    }
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    square(fix, [x, y], 4, (distance) => distance !== 2 && distance !== 4);
  }
  drawFormat({ size, fix });
  if (version >= 7) drawVersion({ size, fix }, version);
}

function square(
  fix: Grid['fix'],
  [x, y]: readonly [number, number],
  reach: number,
  isDark: (distance: number) => boolean,
): void {
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) fix(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  }
}

/** Where alignment patterns stand, in both directions. */
function alignmentsOf(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_none, at) => size - 7 - step * (count - 2 - at))];
}

function drawFormat({ size, fix }: Pick<Grid, 'size' | 'fix'>): void {
  let rest = FORMAT;
  for (let times = 0; times < 10; times += 1) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((FORMAT << 10) | rest) ^ 0x5412;
  const bit = (at: number): boolean => ((bits >>> at) & 1) === 1;
  for (let at = 0; at < 15; at += 1) {
    // Around the first finder, where the timing patterns are left out; and once more beside the other two.
    if (at < 8) fix(8, at < 6 ? at : at + 1, bit(at));
    else fix(at === 8 ? 7 : 14 - at, 8, bit(at));
    if (at < 8) fix(size - 1 - at, 8, bit(at));
    else fix(8, size - 15 + at, bit(at));
  }
  fix(8, size - 8, true);
}

function drawVersion({ size, fix }: Pick<Grid, 'size' | 'fix'>, version: number): void {
  let rest = version;
  for (let times = 0; times < 12; times += 1) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let at = 0; at < 18; at += 1) {
    const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
    fix(far, near, ((bits >>> at) & 1) === 1);
    fix(near, far, ((bits >>> at) & 1) === 1);
  }
}

/** Draws the bytes in columns of two, up and down from the right, turned by the mask. */
function drawBytes({ size, isFixed, draw }: Grid, bytes: Uint8Array): void {
  let at = 0;
  for (let column = size - 1; column >= 1; column -= 2) {
    if (column === 6) column = 5; // The timing pattern.
    for (let step = 0; step < size; step += 1) {
      const y = ((column + 1) & 2) === 0 ? size - 1 - step : step;
      for (const x of [column, column - 1]) {
        if (isFixed(x, y)) continue;
        const bit = ((bytes[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1;
        draw(x, y, (bit === 1) !== ((x + y) % 2 === 0));
        at += 1;
      }
    }
  }
}
