import type { Measure } from '../measure.ts';
import { openCheckout } from '../support/checkout.ts';
import { measureRound, ordersOf, rowsOf, setStage, WALLETS } from '../support/ledger-stage.ts';
import { OWN_ROOT } from '../support/root.ts';

const CALLERS = 256;
const CHANNELS = [1, 2, 4, 8, 16, 32];
/** In these cases, eight processes share four channels (`app/process/worker-channels.ts`). */
const SHARED = [
  { wallets: 40, any: 4, own: 2 },
  { wallets: 80, any: 8, own: 8 },
  { wallets: 80, any: undefined, own: 4 },
];

const ORDERS = ordersOf({
  ...Object.fromEntries(CHANNELS.map((count) => channelsOf(WALLETS, count, 'caller'))),
  ...Object.fromEntries(
    SHARED.flatMap(({ wallets, any, own }) => [
      ...(any === undefined ? [] : [channelsOf(wallets, any, 'caller')]),
      channelsOf(wallets, own, 'wallet'),
    ]),
  ),
});

function channelsOf(wallets: number, count: number, by: 'caller' | 'wallet') {
  const name = `${wallets} wallets, ${count === 1 ? 'one channel' : `${count} channels, ${by === 'wallet' ? 'each its own' : 'any'}`}`;
  return [name, { wallets, callers: CALLERS, channels: { count, by } }] as const;
}

/** What it costs that a turn is smaller, and that two channels lock one wallet. */
export const channels: Measure = {
  name: 'channels',
  title: 'Ledger: 256 callers over several channels',
  isScale: true,
  run: async (bench) => {
    await using started = new AsyncDisposableStack();
    const stage = await setStage(bench, { checkout: await openCheckout(OWN_ROOT), orders: ORDERS }, started);
    for (let round = 0; round <= bench.rounds; round += 1) await measureRound(bench, stage, round);
    return await rowsOf(bench, stage);
  },
};
