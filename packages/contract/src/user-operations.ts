import { type Operation, OWN } from './operation.ts';

const TESTER =
  'Only sandbox keys that were created with `mayReset`, which make no calls, may use it. `x-service-user` names the test user.';

/** The operations on the users and the test users of an app. */
export const USER_OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /apps/{appId}/users': {
    id: 'listUsers',
    tag: 'Wallets and usage of users',
    summary: 'Lists the users of an app who have a connected wallet',
    description:
      'They are sorted by id. A user who has disconnected is not in the list, like one who never connected. The list has no balances, no e-mail addresses and nothing about the people behind the wallets.',
    refuses: OWN,
  },
  'GET /apps/{appId}/users/{userId}': {
    id: 'getUser',
    tag: 'Wallets and usage of users',
    summary: 'Shows one user of an app who has a connected wallet',
    description:
      'The answer says what they spent, this month and in all, and has their cap. For a user who has disconnected, it is the same 404 as for one who never connected.',
    refuses: OWN,
  },
  'GET /apps/{appId}/sandbox': {
    id: 'listSandboxUsers',
    tag: 'Sandbox',
    summary: 'Lists the fake wallets of an app',
    refuses: OWN,
  },
  'POST /apps/{appId}/sandbox/users/{userId}/reset': {
    id: 'resetSandboxUser',
    tag: 'Sandbox',
    summary: 'Resets a fake wallet, or creates it',
    refuses: OWN,
  },
  'PUT /apps/{appId}/sandbox/users/{userId}/next': {
    id: 'setNextSandboxOutcome',
    tag: 'Sandbox',
    summary: 'Makes the next call of a test user play an outcome, once',
    description:
      'The next call of this user with a test key that gets a hold plays it, with any model. Of simultaneous calls, exactly one does. A call that is refused before its hold does not use it up. A reset clears it.',
    refuses: OWN,
  },
  'GET /sandbox/balance': {
    id: 'getSandboxBalance',
    tag: 'Sandbox',
    summary: 'Shows a test user to an automated test',
    description: `${TESTER} For a user without a wallet, it shows what their first call would get: the grant.`,
    refuses: ['FORBIDDEN'],
  },
  'POST /sandbox/reset': {
    id: 'resetSandbox',
    tag: 'Sandbox',
    summary: 'Resets a test user for an automated test',
    description: `${TESTER} Without a body, the user has the grant again, no cap, and is not suspended.`,
    refuses: ['FORBIDDEN'],
  },
  'PUT /sandbox/next': {
    id: 'setNextInSandbox',
    tag: 'Sandbox',
    summary: 'Makes the next call of a test user play an outcome once, for an automated test',
    description: TESTER,
    refuses: ['FORBIDDEN'],
  },
};
