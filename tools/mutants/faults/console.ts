import type { Mutant } from '../mutant.ts';
import { consoleHome, consoleKeys, ownKeys, sumsRead } from './places.ts';

/** Faults of the console that make an owner lose track: of a key that was made twice, of a call that never worked. */
export const CONSOLE_FAULTS: readonly Mutant[] = [
  {
    id: 'form-makes-a-second-key',
    clause: 'CP-08',
    edits: [ownKeys('const keyId = chosen ?? newKeyId();', 'const keyId = newKeyId();')],
    killer: consoleKeys('CP-08 a form sent twice makes one key and rolls once'),
  },
  {
    id: 'refused-call-goes-live',
    clause: 'CP-04',
    edits: [sumsRead(" and outcome = 'charged') as charged`", ') as charged`')],
    killer: consoleHome('CP-04 an app’s home sums its calls and names missing setup'),
  },
];
