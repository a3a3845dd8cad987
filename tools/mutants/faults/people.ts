import type { Mutant } from '../mutant.ts';
import {
  deletion,
  inFile,
  mailOutbox,
  ofFile,
  ownerDeleted,
  personData,
  personHistory,
  personRest,
  retentionOfMail,
} from './places.ts';

const movingMoney = inFile('packages/service/src/operator/acts/moving-money.ts');
const paidBack = ofFile('tests/conformance/operator/payments.test.ts');

/** Faults by which a person keeps less or more than they should, or by which money goes to nobody (CP-12). */
export const PEOPLE_FAULTS: readonly Mutant[] = [
  {
    id: 'act-locks-the-owner-before-the-payments',
    clause: 'CP-05',
    edits: [movingMoney('  await lockPaidCheckouts(tx, { appId, userId });\n', '')],
    killer: paidBack('CP-05 CP-12 a refund waits for the deletion of its payer, and neither for the other'),
  },
  {
    id: 'deleted-with-money',
    clause: 'CP-12',
    edits: [deletion('balance >= payableIn(currency).unit', 'balance < 0n')],
    killer: personData('CP-12 WA-06 nobody is deleted while money or a case is open'),
  },
  {
    id: 'more-is-given-up-than-was-agreed-to',
    clause: 'CP-12',
    edits: [deletion('(agreed(wallet) ?? 0n) < wallet.balance', 'agreed(wallet) === undefined')],
    killer: personRest('CP-12 nobody gives up more than the amount that they confirmed'),
  },
  {
    id: 'mails-outlive-their-person',
    clause: 'CP-12',
    edits: [deletion('    await deleteMessagesTo(tx, address);\n', '')],
    killer: personData('CP-12 WA-02 a deleted person is in no table and may start anew'),
  },
  {
    id: 'booking-does-not-hold-the-owner',
    clause: 'CP-12',
    edits: [ownerDeleted(' for key share;', ';')],
    killer: personData('CP-12 ON-02 money for a deleted person is kept as a case'),
  },
  {
    id: 'export-of-an-earlier-owner',
    clause: 'CP-12',
    edits: [personHistory('atMs > since.getTime()', 'atMs > 0')],
    killer: personData('CP-12 WA-15 an earlier owner’s traces are in nobody else’s file'),
  },
  {
    id: 'mails-kept-for-good-are-deleted',
    clause: 'CP-12',
    edits: [retentionOfMail('if (keptDays === 0)', 'if (keptDays < 0)')],
    killer: mailOutbox('CP-14 CP-12 a message is given up after a day, then removed'),
  },
];
