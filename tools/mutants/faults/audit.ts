import type { Mutant } from '../mutant.ts';
import { chaining, checkingChain, walkingChain } from './places.ts';

/** Faults by which a change of the audit trail is not found. */
export const AUDIT_FAULTS: readonly Mutant[] = [
  {
    id: 'line-before-not-compared',
    clause: 'CP-09',
    edits: [
      walkingChain('else if (isNext && !previous.equals(end.hash))', 'else if (isNext && previous.length === 0)'),
    ],
    killer: checkingChain('CP-09 the sealed head reveals a fully rehashed trail'),
  },
  {
    id: 'head-not-sealed',
    clause: 'CP-09',
    edits: [
      chaining(
        'return equalBytes(head.seal, sealOf(head, key));',
        'return head.seal.length === sealOf(head, key).length;',
      ),
    ],
    killer: checkingChain('CP-09 the sealed head reveals a fully rehashed trail'),
  },
  {
    id: 'cut-tail-not-found',
    clause: 'CP-09',
    edits: [walkingChain('if (head.linkNo !== end.linkNo)', 'if (head.linkNo < end.linkNo)')],
    killer: checkingChain('CP-09 the check of the audit trail finds a trail cut off at its end'),
  },
];
