import { type Operation, OWN } from './operation.ts';

const ANY_WALLETS = 'Operator: wallets';

/** The operations on people who own wallets. */
export const PEOPLE_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /operator/identities': {
    id: 'findIdentity',
    tag: ANY_WALLETS,
    summary: 'Finds a person who owns wallets by their e-mail',
    refuses: OWN,
  },
  'GET /operator/identities/{identityId}': {
    id: 'getIdentityHoldings',
    tag: ANY_WALLETS,
    summary: 'Shows what deleting a person would take away, and what stands in its way',
    refuses: OWN,
  },
  'PATCH /operator/identities/{identityId}': {
    id: 'moveIdentity',
    tag: ANY_WALLETS,
    summary: 'Gives a person another e-mail; ends their sessions and removes their passkeys',
    description:
      'For a person who has lost their mailbox. They sign in with a code to the new address. Both addresses are told by mail. If somebody signs in with the new address already, the answer is a 409: release the wallets instead.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/identities/{identityId}/export': {
    id: 'exportIdentity',
    tag: ANY_WALLETS,
    summary: 'Gives everything that is kept about a person, as one JSON file',
    description:
      'For a person who asks you for it and cannot sign in. It has no secret, no prompt and nothing of other people. The answer is sent as it is read: an answer that was cut off is no JSON.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/identities/{identityId}/delete': {
    id: 'deleteIdentity',
    tag: ANY_WALLETS,
    summary: 'Deletes a person; their wallets are released, and the books stay',
    description:
      'Refused while a wallet has money, held money or a shortfall, and while a checkout, refund, dispute or case is open. It removes the e-mail, sessions, passkeys, codes, sign-ins, alerts and mails. Entries, receipts and payments stay, under the user ids of apps. It cannot be undone. No mail is sent: tell the person yourself.',
    refuses: [...OWN, 'CONFLICT'],
  },
};
