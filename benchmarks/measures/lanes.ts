import type { Measure } from '../measure.ts';
import { openCheckout } from '../support/checkout.ts';
import { measureRound, ordersOf, rowsOf, setStage, WALLETS } from '../support/ledger-stage.ts';
import { OWN_ROOT } from '../support/root.ts';

const CALLERS = 256;
const LANES = [1, 2, 4, 8, 16, 32];
/** In these cases, eight processes share four lanes (`app/process/worker-lanes.ts`). */
const SHARED = [
  { wallets: 40, any: 4, own: 2 },
  { wallets: 80, any: 8, own: 8 },
  { wallets: 80, any: undefined, own: 4 },
];

const ORDERS = ordersOf({
  ...Object.fromEntries(LANES.map((count) => lanesOf(WALLETS, count, 'caller'))),
  ...Object.fromEntries(
    SHARED.flatMap(({ wallets, any, own }) => [
      ...(any === undefined ? [] : [lanesOf(wallets, any, 'caller')]),
      lanesOf(wallets, own, 'wallet'),
    ]),
  ),
});

function lanesOf(wallets: number, count: number, by: 'caller' | 'wallet') {
  const name = `${wallets} wallets, ${count === 1 ? 'one lane' : `${count} lanes, ${by === 'wallet' ? 'each its own' : 'any'}`}`;
  return [name, { wallets, callers: CALLERS, lanes: { count, by } }] as const;
}

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
