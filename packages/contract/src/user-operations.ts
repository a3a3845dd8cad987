import { type Operation, OWN, tagged } from './operation.ts';

/** The operations on the users and the test users of an app. */
export const USER_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...tagged('Wallets and usage of users', {
    'GET /apps/{appId}/users': {
      id: 'listUsers',
      summary: 'Lists the users of an app who have a connected wallet',
      description:
        'They are sorted by id. A user who has disconnected is not in the list, like one who never connected. The list has no balances, no e-mail addresses and nothing about the people behind the wallets.',
      refuses: OWN,
    },
    'GET /apps/{appId}/users/{userId}': {
      id: 'getUser',
      summary: 'Shows one user of an app who has a connected wallet',
      description:
        'The answer says what they spent, this month and in all, and has their cap. For a user who has disconnected, it is the same 404 as for one who never connected.',
      refuses: OWN,
    },
  }),
  ...tagged('Sandbox', {
    'GET /apps/{appId}/sandbox': { id: 'listSandboxUsers', summary: 'Lists the fake wallets of an app', refuses: OWN },
    'POST /apps/{appId}/sandbox/users/{userId}/reset': {
      id: 'resetSandboxUser',
      summary: 'Resets a fake wallet, or creates it',
      refuses: OWN,
    },
    'PUT /apps/{appId}/sandbox/users/{userId}/next': {
      id: 'setNextSandboxOutcome',
      summary: 'Makes the next call of a test user play an outcome, once',
      description:
        'The next call of this user with a test key that gets a hold plays it, with any model. Of simultaneous calls, exactly one does. A call that is refused before its hold does not use it up. A reset clears it.',
      refuses: OWN,
    },
    'POST /apps/{appId}/sandbox/tokens': {
      id: 'createTestToken',
      summary: 'Makes a token with which automated tests read and reset test users',
      description:
        'It opens `GET /apps/{appId}/sandbox` and the reset of this app and nothing else: every other route refuses it. It works until it is revoked, as long as the owner who made it is one.',
      refuses: [...OWN, 'CONFLICT'],
    },
    'GET /apps/{appId}/sandbox/tokens': {
      id: 'listTestTokens',
      summary: 'Lists the test tokens of an app, the newest first, without their text',
      refuses: OWN,
    },
    'DELETE /apps/{appId}/sandbox/tokens/{testTokenId}': {
      id: 'deleteTestToken',
      summary: 'Revokes a test token; the next request with it is refused',
      refuses: OWN,
    },
  }),
};
