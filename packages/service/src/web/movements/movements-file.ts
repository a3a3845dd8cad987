import { csvField } from '#http/serializers/csv.ts';
import { forWalletOwner } from '#web/wallet-owner/owned-wallet.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { MOVEMENT_TEXTS } from '#web/movements/texts.ts';
import { type MovementsRead, readMovements } from '#web/movements/movements.ts';
import { decimalOf } from '#web/format/formats.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { NamedWallet, WalletMovement } from '#ledger/history/movements.ts';

const COLUMNS = [
  'at',
  'movement',
  'amount',
  'balanceAfter',
  'currency',
  'callId',
  'model',
  'tokensIn',
  'tokensOut',
  'paidOut',
];
/** Movements read at a time. */
const BATCH = 1_000;

/** Makes `/wallet/:part/movements.csv`, which has every movement, the newest first. */
export const movementsFile = forWalletOwner({
  GET: async ({ services, connection, wallet }) => {
    // Before the file begins: if a cell is away, the answer is a page that says so.
    const first = await readMovements(services, wallet, { before: undefined, most: BATCH });
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${MOVEMENT_TEXTS.fileName}"`,
    };
    const text = linesOf(services, wallet, { first, currency: connection.wallet.currency });
    return { status: 200, file: { headers, text } };
  },
});

/**
 * The lines, read in batches as they are sent: a wallet may have any number of movements, and only one batch is in memory. Entries
 * never change, so what is read later fits what was sent before.
 */
async function* linesOf(
  services: WalletOwnerServices,
  wallet: NamedWallet,
  { first, currency }: { readonly first: MovementsRead; readonly currency: string },
): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  let read = first;
  for (;;) {
    const { movements, calls } = read;
    yield movements.map((movement) => lineOf(movement, calls, currency)).join('');
    if (movements.length < BATCH) return;
    read = await readMovements(services, wallet, { before: movements.at(-1), most: BATCH });
  }
}

function lineOf(movement: WalletMovement, calls: MovementsRead['calls'], currency: string): string {
  const { atMs, kind, amount, direction, balanceAfter, callId } = movement;
  const used = callId === undefined ? undefined : calls.get(callId);
  // The column adds up to the balance. A refund that is paid out has left the balance before, so it counts as 0.
  const change = { in: '', out: '-', beside: undefined }[direction];
  const cells = [
    isoOf(atMs),
    csvField(MOVEMENT_TEXTS.movement(kind)),
    change === undefined ? '0' : change + decimalOf(amount),
    decimalOf(balanceAfter),
    currency,
    callId ?? '',
    csvField(used?.model ?? ''),
    String(used?.promptTokens ?? ''),
    String(used?.completionTokens ?? ''),
    direction === 'beside' ? decimalOf(amount) : '',
  ];
  return `${cells.join(',')}\r\n`;
}
