import type { Mutant } from '../mutant.ts';
import { actingOperators, confirming, limitingOperators, limits } from './places.ts';

/** Faults by which an operator moves more than their limits, or does alone what takes two. */
export const LIMIT_FAULTS: readonly Mutant[] = [
  {
    id: 'day-sum-without-lock',
    clause: 'CP-07',
    edits: [actingOperators('and not is_disabled\n     for no key update`', 'and not is_disabled`')],
    killer: limitingOperators('CP-07 two refunds at the same moment do not both take what is left of the day'),
  },
  {
    id: 'credit-of-new-wallet-unbounded',
    clause: 'CP-07',
    edits: [limits("['wallet.open', 'wallet.credit']", "['wallet.credit']")],
    killer: limitingOperators('CP-07 a credit has an upper bound in every role, also the first one of a new wallet'),
  },
  {
    id: 'asker-confirms',
    clause: 'CP-07',
    edits: [
      confirming(
        "requestedBy === act.actor || personOf(requestedEmail) === personOf(act.actorName ?? '')",
        "requestedBy === '' || requestedEmail === act.actor",
      ),
    ],
    killer: limitingOperators('CP-07 the same person with another account of the same e-mail is no second person'),
  },
  {
    id: 'confirmed-without-judgement',
    clause: 'CP-07',
    edits: [confirming('await judgeBoth(tx, act, waiting, changed.amount)', 'undefined')],
    killer: limitingOperators(
      'CP-07 an act is judged again when it is confirmed: roles, limits and the balance may have changed',
    ),
  },
];
