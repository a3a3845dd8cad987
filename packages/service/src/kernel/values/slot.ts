import { sha256 } from '#kernel/crypto/crypto.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/values/ids.ts';

export const SLOTS = 4_096;

/** Another cell, as a gateway reaches it. Immutable. */
export interface OtherCell {
  readonly name: string;
  /** The base URL, without a trailing slash. */
  readonly baseUrl: string;
}

const CELL_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const CELL_NAME_RULE = 'one to 32 small letters, digits and hyphens, such as `c1`';

export function isCellName(text: string): boolean {
  return CELL_NAME.test(text);
}

/**
 * The slot of a user of an app, from 0 to 4095: the first twelve bits of a SHA-256. `slot_of.sql` computes the same. Neither id
 * contains a space (AU-04), so no two pairs are the same text.
 */
export function slotOf(appId: AppId, userId: EndUserId): number {
  return slotOfText(`${appId} ${userId}`);
}

/** The slot of an app or a key itself. The cell of this slot has the bucket of its rate limit. */
export function homeSlotOf(id: AppId | KeyId): number {
  return slotOfText(id);
}

function slotOfText(text: string): number {
  return sha256(text).readUInt16BE(0) >> 4;
}

const RANGE = /^(\d{1,4})(?:-(\d{1,4}))?$/;

/** Reads `17` or `0-2047`. Undefined if the text is no range of slots. */
export function rangeOf(text: string): { readonly least: number; readonly most: number } | undefined {
  const [, first, last = first] = RANGE.exec(text) ?? [];
  const [least, most] = [Number(first), Number(last)];
  return first !== undefined && least <= most && most < SLOTS ? { least, most } : undefined;
}

/** Slots in words: `0-2047, 4095`. The slots are in ascending order. */
export function slotsInWords(slots: readonly number[]): string {
  const words: string[] = [];
  for (let from = 0, to = 0; from < slots.length; from = to) {
    const first = slots[from] ?? 0;
    to = from + 1;
    while (slots[to] === first + to - from) to += 1;
    const last = first + to - from - 1;
    words.push(first === last ? String(first) : `${first}-${last}`);
  }
  return words.join(', ');
}
