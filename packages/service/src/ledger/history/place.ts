/**
 * Where an entry is in the history of a wallet, which may have been in several cells. Each of them has numbered its own entries, so the
 * moves come first. It says nothing of time: the clocks of two cells differ.
 */
export interface Place {
  /** The number of the move by which the wallet had come to the cell of the entry. Each move of a slot has a higher one. */
  readonly move: number;
  /** The number of the entry in its cell. */
  readonly seq: bigint;
}

/** The move of entries from before any. */
export const OPENED_HERE = 0;

/** Less than 0: `one` is newer. */
export function newestFirst(one: Place, other: Place): number {
  if (one.move !== other.move) return other.move - one.move;
  return one.seq === other.seq ? 0 : one.seq > other.seq ? -1 : 1;
}

/** No zero at the front: one text for one place. */
const PLACE = /^(?:([1-9]\d{0,8})\.)?([1-9]\d{0,17})$/;

/** A place as an address has it: the number alone for a wallet that has not moved. */
export function placeText({ move, seq }: Place): string {
  return move === OPENED_HERE ? String(seq) : `${move}.${seq}`;
}

/** Returns undefined if the text is no place. */
export function parsePlace(text: string): Place | undefined {
  const [, move = OPENED_HERE, seq] = PLACE.exec(text) ?? [];
  return seq === undefined ? undefined : { move: Number(move), seq: BigInt(seq) };
}
