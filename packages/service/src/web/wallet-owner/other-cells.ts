import type { CellPages } from '#http/cells/wallets/other-cells.ts';

/** The pages that take a person who is signed in from one cell to another. Links lead to pages of this cell only. */
export const FROM_CELL = '/wallet/from-cell';
export const HAND_OVER = '/wallet/hand-over';
export const ARRIVE = '/wallet/arrive';

/** The way to a page of the cell `to`, for a person who is signed in here. */
export function toCell(to: string, next: string): string {
  return `${HAND_OVER}?${new URLSearchParams({ to, next }).toString()}`;
}

/** The way to a page of this cell, for a person who is signed in to the cell `from`. */
export function fromCell(from: string, next: string): string {
  return `${FROM_CELL}?${new URLSearchParams({ from, next }).toString()}`;
}

/** How people know a cell: by the name in their browser's address. */
export function hostOf({ publicUrl }: CellPages): string {
  return new URL(publicUrl).host;
}
