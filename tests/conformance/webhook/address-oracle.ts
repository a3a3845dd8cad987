/**
 * Whether an address is special, by integer comparison alone, from IANA's special-purpose registries and the multicast space,
 * written down apart from the service's own list.
 */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

type Block = readonly [from: string, length: number];

const V4: readonly Block[] = [
  ['00000000', 8], ['0a000000', 8], ['64400000', 10], ['7f000000', 8], ['a9fe0000', 16], ['ac100000', 12], ['c0000000', 24],
  ['c0000200', 24], ['c01fc400', 24], ['c034c100', 24], ['c0586300', 24], ['c0a80000', 16], ['c0af3000', 24],
  ['c6120000', 15], ['c6336400', 24], ['cb007100', 24], ['e0000000', 4], ['f0000000', 4],
]; // biome-ignore format: a table
const V6: readonly Block[] = [
  ['20010000', 23], ['20010db8', 32], ['20020000', 16], ['2620004f8000', 48], ['3fff0000', 20],
]; // biome-ignore format: a table

const V4_IN_V6 = 32n;
const MAPPED = 0xffffn; // ::ffff:0:0/96
const NAT64 = 0x64ff9bn << 64n; // 64:ff9b::/96

export function isSpecial({ bits, value }: Address): boolean {
  if (bits === 32) return V4.some((block) => isIn(block, value, 32));
  const [high, low] = [value >> V4_IN_V6, value & 0xffffffffn];
  if (high === MAPPED || high === NAT64) return isSpecial({ bits: 32, value: low });
  if (value >> 125n !== 1n) return true; // Not in 2000::/3.
  return V6.some((block) => isIn(block, value, 128));
}

function isIn([from, length]: Block, value: bigint, bits: number): boolean {
  const shift = BigInt(bits - length);
  const start = BigInt(`0x${from.padEnd(bits / 4, '0')}`);
  return value >> shift === start >> shift;
}

/** Draws an address. Half of them lie anywhere, and half near the edges of a special block, where mistakes hide. */
export function randomAddress(): Address {
  const bits = Math.random() < 0.5 ? 32 : 128;
  const whole = randomBits(bits);
  const blocks =
    bits === 32 ? V4 : [...V6, ['20000000', 3] as const, ['fe800000', 10] as const, ['00000000', 8] as const];
  const block = blocks[Math.floor(Math.random() * blocks.length)];
  const kind = Math.floor(Math.random() * 4);
  if (block === undefined || kind < 2) return { bits, value: whole };
  if (bits === 128 && kind === 2) {
    return { bits, value: ((Math.random() < 0.5 ? MAPPED : NAT64) << V4_IN_V6) | randomBits(32) };
  }
  const start = BigInt(`0x${block[0].padEnd(bits / 4, '0')}`);
  const size = 1n << BigInt(bits - block[1]);
  const edge = [start, start - 1n, start + size - 1n, start + size][Math.floor(Math.random() * 4)] ?? start;
  return { bits, value: edge & ((1n << BigInt(bits)) - 1n) };
}

export function addressText({ bits, value }: Address): string {
  const hex = value.toString(16).padStart(bits / 4, '0');
  const parts = hex.match(bits === 32 ? /../g : /..../g) ?? [];
  return bits === 32 ? parts.map((part) => Number.parseInt(part, 16)).join('.') : parts.join(':');
}

function randomBits(bits: number): bigint {
  let value = 0n;
  for (let have = 0; have < bits; have += 16) value = (value << 16n) | BigInt(Math.floor(Math.random() * 65_536));
  return value;
}
