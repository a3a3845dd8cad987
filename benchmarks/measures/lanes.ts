import type { Measure } from '../measure.ts';
import { openCheckout } from '../support/checkout.ts';
import { measureRound, ordersOf, rowsOf, setStage, WALLETS } from '../support/ledger-stage.ts';
import { OWN_ROOT } from '../support/root.ts';

const CALLERS = 256;
const LANES = [1, 2, 4, 8, 16, 32];
const SHARED = [
  { wallets: 40, count: 4 },
  { wallets: 80, count: 8 },
];

const ORDERS = ordersOf({
  ...Object.fromEntries(
    LANES.map((count) => [
      `${count} lanes, 10,000 wallets`,
      { wallets: WALLETS, callers: CALLERS, lanes: { count, by: 'caller' as const } },
    ]),
  ),
  ...Object.fromEntries(
    SHARED.flatMap(({ wallets, count }) => [
      [
        `${count} lanes, ${wallets} wallets, any lane`,
        { wallets, callers: CALLERS, lanes: { count, by: 'caller' as const } },
      ],
      [
        `${count} lanes, ${wallets} wallets, each its lane`,
        { wallets, callers: CALLERS, lanes: { count, by: 'wallet' as const } },
      ],
    ]),
  ),
});

/** What it costs that a turn is smaller, and that two lanes lock one wallet. */
export const lanes: Measure = {
  name: 'lanes',
  title: 'Ledger: 256 callers over several lanes',
  isScale: true,
  run: async (bench) => {
    await using started = new AsyncDisposableStack();
    const stage = await setStage(bench, { checkout: await openCheckout(OWN_ROOT), orders: ORDERS }, started);
    for (let round = 0; round <= bench.rounds; round += 1) await measureRound(bench, stage, round);
    return await rowsOf(bench, stage);
  },
};
