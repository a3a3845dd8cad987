import type { Measure } from '../measure.ts';
import { openCheckout } from '../support/checkout.ts';
import { measureRound, ordersOf, rowsOf, setStage, WALLETS } from '../support/ledger-stage.ts';
import { OWN_ROOT } from '../support/root.ts';

const BUSY = 256;

const ORDERS = ordersOf({
  'lone pairs': { wallets: WALLETS, callers: 1 },
  'pairs by 8 callers': { wallets: WALLETS, callers: 8 },
  'pairs by 30 callers': { wallets: WALLETS, callers: 30 },
  'pairs by 64 callers': { wallets: WALLETS, callers: 64 },
  'pairs over 10,000 wallets': { wallets: WALLETS, callers: BUSY },
  'pairs on one wallet': { wallets: 1, callers: BUSY },
});

/**
 * Pairs of hold and settlement by the gateway's own code, by one caller and by many that each wait for their last. Beside
 * them, what one connection can commit, a row at a time, on the same disk.
 */
export const ledger: Measure = {
  name: 'ledger',
  title: 'Ledger: holds placed and settled, against single-row commits',
  run: async (bench) => {
    await using started = new AsyncDisposableStack();
    const stages = [await setStage(bench, { checkout: await openCheckout(OWN_ROOT), orders: ORDERS }, started)];
    if (bench.beside !== undefined) {
      stages.push(await setStage(bench, { checkout: bench.beside, orders: ORDERS, suffix: ' (beside)' }, started));
    }
    for (let round = 0; round <= bench.rounds; round += 1) {
      for (const stage of stages) await measureRound(bench, stage, round);
    }
    return (await Promise.all(stages.map((stage) => rowsOf(bench, stage)))).flat();
  },
};
