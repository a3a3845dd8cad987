import { operatorsOf, OWN } from './operation.ts';

/** The operations on people who own wallets. */
export const PEOPLE_OPERATIONS = operatorsOf('Operator: wallets', {
  'GET /operator/identities': {
    id: 'findIdentity',
    summary: 'Finds a person who owns wallets by their e-mail',
    refuses: OWN,
  },
  'GET /operator/identities/{identityId}': {
    id: 'getIdentityHoldings',
    summary: 'Shows what deleting a person would remove, and what prevents it',
  },
  'PATCH /operator/identities/{identityId}': {
    id: 'moveIdentity',
    summary: 'Gives a person another e-mail, ends their sessions and removes their passkeys',
    description:
      'Use it for a person who has lost their mailbox. They then sign in with a code that is sent to the new address. Both addresses get a mail about it. If somebody already signs in with the new address, the answer is a 409: release the wallets instead.',
  },
  'POST /operator/identities/{identityId}/export': {
    id: 'exportIdentity',
    summary: 'Exports everything that is kept about a person, as one JSON file',
    description:
      'Use it for a person who asks for their data and cannot sign in. The file contains no secret, no prompt and nothing about other people. The answer is sent as it is read, so an answer that was cut off is not valid JSON.',
  },
  'POST /operator/identities/{identityId}/delete': {
    id: 'deleteIdentity',
    summary: 'Deletes a person and releases their wallets; the books stay',
    description:
      'The request is refused while a wallet has money, held money or a shortfall, and while a checkout, refund, dispute or case is open. What is too small to be paid back is given up, if `givesUp` names at least the amount that is there. It removes the e-mail, sessions, passkeys, codes, sign-ins, alerts and mails. Entries, receipts and payments stay, under the user ids of apps. It cannot be undone. No mail is sent: tell the person yourself.',
  },
});
