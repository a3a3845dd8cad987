import { CALL_FAULTS } from './faults/call.ts';
import { CONNECTION_FAULTS } from './faults/connections.ts';
import { FITTING_FAULTS } from './faults/fitting.ts';
import { MONEY_OUT_FAULTS } from './faults/money-out.ts';
import { RESERVE_FAULTS } from './faults/reserve.ts';
import { RETRY_FAULTS } from './faults/retries.ts';
import { SANDBOX_FAULTS } from './faults/sandbox.ts';
import { SCHEMA_FAULTS } from './faults/schema.ts';
import { SETTLE_FAULTS } from './faults/settle.ts';
import type { Mutant } from './mutant.ts';

/** Every fault that the suite must notice, over the whole path of the money. */
export const MUTANTS: readonly Mutant[] = [
  ...SCHEMA_FAULTS,
  ...RESERVE_FAULTS,
  ...SETTLE_FAULTS,
  ...FITTING_FAULTS,
  ...MONEY_OUT_FAULTS,
  ...CALL_FAULTS,
  ...RETRY_FAULTS,
  ...CONNECTION_FAULTS,
  ...SANDBOX_FAULTS,
];
