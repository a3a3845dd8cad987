import type { Mutant } from '../mutant.ts';
import { readingClaims, singleSignOn, ssoClaims, ssoClient, ssoEntry, sessionQueries } from './places.ts';

/** Faults by which somebody becomes an operator, stays one or acts as one without the provider's word. */
export const SSO_FAULTS: readonly Mutant[] = [
  {
    id: 'forged-id-token',
    clause: 'CP-13',
    edits: [ssoClient('        openid.enableNonRepudiationChecks,\n', '')],
    killer: singleSignOn('CP-13 an ID token that is signed with another key opens nothing'),
  },
  {
    id: 'unverified-email-counts',
    clause: 'CP-13',
    edits: [ssoClaims('if (isVerified !== true)', 'if (isVerified === false)')],
    killer: readingClaims('CP-13 an e-mail is verified only by the boolean `true`'),
  },
  {
    id: 'lost-role-keeps-its-sessions',
    clause: 'CP-07',
    edits: [ssoEntry('  else await changeRole(tx, row, null, place.from);\n', '')],
    killer: singleSignOn('CP-07 the role follows the claim at each sign-in'),
  },
  {
    id: 'silent-sign-in-is-a-proof',
    clause: 'CP-06',
    edits: [sessionQueries('session.authTimeMs ?? 0', 'Math.max(session.authTimeMs ?? 0, Date.now())')],
    killer: singleSignOn('CP-06 CP-13 a fresh proof is a new sign-in by the same person'),
  },
];
