import type { Mutant } from '../mutant.ts';
import {
  accountDesk,
  actingOperators,
  chainCheck,
  checkingChain,
  confirming,
  limitingOperators,
  limits,
  meetingActs,
  moneyActs,
  rightsOfOperators,
  tableOfRights,
  loneOperator,
  newOperators,
  secondPersons,
} from './places.ts';

/** Faults by which an operator moves more than their limits, or does alone what takes two. */
export const LIMIT_FAULTS: readonly Mutant[] = [
  {
    id: 'day-sum-without-lock',
    clause: 'CP-07',
    edits: [actingOperators('and not is_disabled\n     for no key update`', 'and not is_disabled`')],
    killer: limitingOperators('CP-07 two simultaneous refunds do not both take the day’s rest'),
  },
  {
    id: 'credit-of-new-wallet-unbounded',
    clause: 'CP-07',
    edits: [limits("['wallet.open', 'wallet.credit']", "['wallet.credit']")],
    killer: limitingOperators('CP-07 a credit has an upper bound in every role'),
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
    killer: limitingOperators('CP-07 possible confirmers are mailed once, and each person counts once'),
  },
  {
    id: 'confirmed-without-judgement',
    clause: 'CP-07',
    edits: [confirming('await judgeBoth(tx, act, waiting, changed.amount)', 'undefined')],
    killer: limitingOperators('CP-07 an act is judged again when it is confirmed'),
  },
  {
    id: 'made-operator-confirms',
    clause: 'CP-07',
    edits: [confirming('judgeTwoPersons(tx, act.actor, requestedBy)', 'judgeTwoPersons(tx, requestedBy)')],
    killer: newOperators('CP-07 an account that an operator changed cannot confirm for 24 hours'),
  },
  {
    id: 'nobody-could-confirm',
    clause: 'CP-07',
    edits: [secondPersons('isAnybody: others.length > 0', 'isAnybody: others.length >= 0')],
    killer: loneOperator('CP-07 an act that nobody could confirm is refused at once'),
  },
  {
    id: 'promotion-is-forgotten',
    clause: 'CP-07',
    edits: [accountDesk('return accountOf(await appointed(tx, act, row));', 'return accountOf(row);')],
    killer: newOperators('CP-07 an account that an operator changed cannot confirm for 24 hours'),
  },
  {
    id: 'write-off-judged-before-its-lock',
    clause: 'CP-07',
    edits: [moneyActs('.lock(wallet.appId, wallet.userId)', '.find(wallet.appId, wallet.userId)')],
    killer: meetingActs('CP-07 a write-off is judged and recorded by what it forgives'),
  },
  {
    id: 'credit-open-to-viewers',
    clause: 'CP-07',
    edits: [tableOfRights("{userId}/credit': FINANCE_PROVED", "{userId}/credit': VIEWER")],
    killer: rightsOfOperators('CP-06 CP-07 each role has exactly its rights and proofs'),
  },
  {
    id: 'entry-hidden-behind-line-nought',
    clause: 'CP-09',
    edits: [chainCheck('if (linkNo < 1n) return fault(', 'if (linkNo < 1n) return void (')],
    killer: checkingChain('CP-09 the check of the audit trail finds lines inserted under numbers that no chain has'),
  },
  {
    id: 'a-limit-for-each-account-made',
    clause: 'CP-07',
    edits: [
      limits(
        'const counting = [accountId, ...(await selectAppointers(tx, accountId, APPOINTED_MS))]',
        'const counting = [accountId]',
      ),
    ],
    killer: newOperators('CP-07 movements of admin-made accounts count for that admin’s day'),
  },
];
