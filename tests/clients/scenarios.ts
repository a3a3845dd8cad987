import { CALLS } from './calls.ts';
import { FAILURES } from './failures.ts';
import type { Scenario } from './scenario.ts';

/** Every scenario, in the order of `docs/CLIENTS.md`. */
export const SCENARIOS: readonly Scenario[] = [...CALLS, ...FAILURES];
