import fc from 'fast-check';
import { MOVE_STEPS } from '../../../packages/service/src/cells/moving/move-slot.ts';

// The steps of a random history of the ledger, see ledger-history.ts.

export const WALLETS = 3;
/** Keys that have a monthly budget. Calls without one are of other keys. */
export const KEYS = 2;
export const AMOUNT_MAX = 60;
export const BUDGET_MAX = 8 * AMOUNT_MAX;

const amount = fc.integer({ min: 1, max: AMOUNT_MAX });
const wallet = fc.nat(WALLETS - 1);
/** Picks one of the calls so far, counted from the latest: three times out of four one that still holds. */
const call = fc.record({ back: fc.nat(9), isOpen: fc.constantFrom(true, true, true, false) });
const key = fc.nat(KEYS - 1);
const request = fc.record({
  wallet,
  least: amount,
  more: fc.nat(AMOUNT_MAX),
  streamsMax: fc.constantFrom(0, 0, 2),
  key: fc.option(key, { nil: undefined, freq: 2 }),
  /** Calls of one user with the same number are repeats of one another. */
  attempt: fc.option(fc.nat(1), { nil: undefined, freq: 2 }),
});
const ending = fc.record({ call, charge: fc.oneof(fc.constant(0), fc.nat(2 * AMOUNT_MAX)) });
const often = (fact: boolean) => fc.constantFrom(fact, fact, fact, !fact);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);

export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: kind('reserve'),
      instance: fc.nat(1),
      calls: fc.array(request, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: kind('turn'),
      instance: fc.nat(1),
      ends: fc.array(ending, { minLength: 1, maxLength: 4 }),
      calls: fc.array(request, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('reserve again'), instance: fc.nat(1), call }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: kind('settle'),
      ends: fc.array(ending, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: kind('credit'),
      kind: fc.constantFrom('top_up', 'contract_credit', 'funds_reinstated'),
      wallet,
      amount: fc.integer({ min: 1, max: 5 * AMOUNT_MAX }),
      key: fc.nat(12),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: kind('drain'), call }) },
  { weight: 1, arbitrary: fc.record({ do: kind('fence'), instance: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: kind('take back'),
      kind: fc.constantFrom('claw_back', 'refund'),
      wallet,
      amount: fc.integer({ min: 1, max: 3 * AMOUNT_MAX }),
      key: fc.nat(12),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('reinstate'), wallet, writesOff: often(false) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: kind('cap'), wallet, cap: fc.option(fc.nat(4 * AMOUNT_MAX), { nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: kind('connect'), wallet, isConnected: often(true) }) },
  { weight: 1, arbitrary: fc.record({ do: kind('budget'), key, limit: fc.integer({ min: 1, max: BUDGET_MAX }) }) },
  { weight: 1, arbitrary: fc.record({ do: kind('month'), wallet }) },
);

/** Steps of a history in two cells. */
export const stepInCells = fc.oneof(
  { weight: 8, arbitrary: step },
  {
    weight: 1,
    arbitrary: fc.record({
      do: kind('change cell'),
      wallet,
      killedAt: fc.option(fc.constantFrom(...MOVE_STEPS), { nil: undefined, freq: 2 }),
      isGivenUp: fc.boolean(),
    }),
  },
);
export type NewCall = typeof request extends fc.Arbitrary<infer Value> ? Value : never;
export type Which = typeof call extends fc.Arbitrary<infer Value> ? Value : never;
export type Step = typeof stepInCells extends fc.Arbitrary<infer Value> ? Value : never;
