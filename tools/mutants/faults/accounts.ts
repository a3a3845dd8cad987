import type { Mutant } from '../mutant.ts';
import {
  codeUses,
  factorChecks,
  factoring,
  freshProofs,
  teaming,
  judgingOperators,
  operatorRoles,
  pendingSignIns,
  resets,
  teams,
} from './places.ts';

const ONCE = factoring('CP-06 a password alone opens nothing, and a code works once');
const RESET = factoring('CP-06 a password reset does not replace the second factor');
const INVITED = teaming('AU-06 an invitation admits its address’s account, once');
const PASSKEY = factoring('CP-06 a passkey is a second factor, or signs in alone');

/** Faults by which a stolen password, code or session opens an account that has a second factor, or a stranger joins a team. */
export const ACCOUNT_FAULTS: readonly Mutant[] = [
  {
    id: 'code-works-twice',
    clause: 'CP-06',
    edits: [codeUses('where account_id = $1 and last_step < $2', 'where account_id = $1 and last_step <= $2')],
    killer: ONCE,
  },
  {
    id: 'reset-skips-the-second-factor',
    clause: 'CP-06',
    edits: [resets('row.has_second_factor', 'row.is_disabled')],
    killer: RESET,
  },
  {
    id: 'guesses-are-not-counted',
    clause: 'CP-06',
    edits: [pendingSignIns('set guesses_left = guesses_left - 1', 'set guesses_left = guesses_left')],
    killer: factoring('CP-06 five wrong codes end a sign-in, ten slow the account'),
  },
  {
    id: 'passkey-of-anybody',
    clause: 'CP-06',
    edits: [factorChecks('shown.purpose)) === holder.accountId', 'shown.purpose)) !== undefined')],
    killer: PASSKEY,
  },
  {
    id: 'old-session-changes-the-factor',
    clause: 'CP-06',
    edits: [freshProofs('if (isProved) return undefined;', 'if (isProved || !isProved) return undefined;')],
    killer: factoring('CP-06 second-factor changes need a fresh proof with both factors'),
  },
  {
    id: 'forwarded-invitation-lets-in',
    clause: 'AU-06',
    edits: [teams('if (invitation.email !== email)', "if (invitation.email === '')")],
    killer: INVITED,
  },
  {
    id: 'unproven-e-mail-joins-a-team',
    clause: 'AU-06',
    edits: [
      teams('if (!(await isVerified(pool, accountId)))', "if (email === '' && !(await isVerified(pool, accountId)))"),
    ],
    killer: INVITED,
  },
  {
    id: 'operators-need-no-second-factor',
    clause: 'CP-06',
    edits: [
      operatorRoles(
        'return isSecondFactorRequired && !hasSecondFactor && !isSso;',
        'return isSecondFactorRequired && !hasSecondFactor && isSso;',
      ),
    ],
    killer: judgingOperators('CP-06 a production operator without a second factor is refused everything'),
  },
  {
    id: 'money-without-a-fresh-proof',
    clause: 'CP-06',
    edits: [
      operatorRoles(
        'return isProofNeeded ? needsProof(signedIn) : undefined;',
        'return isProofNeeded && account.isDisabled ? needsProof(signedIn) : undefined;',
      ),
    ],
    killer: judgingOperators('CP-06 money needs a fresh proof wherever a second factor exists'),
  },
  {
    id: 'support-may-do-what-finance-may',
    clause: 'CP-07',
    edits: [
      operatorRoles(
        'if (!isAtLeastOperator(role, access.least))',
        "if (!isAtLeastOperator(role, access.least) && role !== 'support')",
      ),
    ],
    killer: judgingOperators('CP-07 a role includes the lower ones, and an owner has none'),
  },
];
