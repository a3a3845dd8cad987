import { tagged } from './operation.ts';

const PROVED =
  'Needs a session that was opened, or proved by `POST /sessions/current/proof`, within the last ten minutes.';

/** The operations on the e-mail and the second factor of an account. */
export const ACCOUNT_OPERATIONS = tagged('Accounts and sessions', {
  'POST /email-verifications': {
    id: 'requestEmailVerification',
    summary: 'Sends the mail that verifies the account’s e-mail again',
    description: 'The link in the earlier mail stops working. A 409 means that the e-mail is already verified.',
    refuses: ['CONFLICT'],
  },
  'POST /email-verifications/use': {
    id: 'verifyEmail',
    summary: 'Verifies the e-mail of the account with the token from that mail',
    description:
      'The token works once, within three days, and only with a session of the account to which it was mailed.',
  },
  'POST /pending-sign-ins/use': {
    id: 'finishSignIn',
    summary: 'Finishes a sign-in that waits for the second factor, and returns a session token',
    description:
      'After five wrong codes, the sign-in must begin again with the password. Programs use the codes of an authenticator app; passkeys work on the pages.',
    refuses: ['UNAUTHORIZED'],
  },
  'POST /sessions/current/proof': {
    id: 'proveSession',
    summary:
      'Proves who uses the session, which may then change second factors, move money and change rights for ten minutes',
  },
  'GET /accounts/current/second-factor': {
    id: 'getSecondFactor',
    summary: 'Shows the second factors of the account',
  },
  'POST /accounts/current/authenticator': {
    id: 'offerAuthenticator',
    summary: 'Begins to add an authenticator app',
    description: `Nothing is stored until a code of the app comes back. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
  'POST /accounts/current/second-factor/code': {
    id: 'requestEnrolmentCode',
    summary: 'Mails an operator the code for their first second factor',
    description: `In production, an operator needs this code to add their first second factor, so that a stolen password alone is worth nothing. It works once, within an hour. Accounts that need no code get a 409. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
  'PUT /accounts/current/authenticator': {
    id: 'addAuthenticator',
    summary: 'Adds the authenticator app, with a code that it shows',
    description: `The first second factor of an account comes with ten recovery codes. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
  },
  'DELETE /accounts/current/authenticator': {
    id: 'removeAuthenticator',
    summary: 'Removes the authenticator app',
    description: `If no passkey is left either, the password alone is enough to sign in. ${PROVED}`,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
  },
  'DELETE /accounts/current/passkeys/{passkeyId}': {
    id: 'removePasskey',
    summary: 'Removes a passkey of the account',
    description: `Passkeys are added on the page of the account, in a browser. ${PROVED}`,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
  },
  'POST /accounts/current/recovery-codes': {
    id: 'makeRecoveryCodes',
    summary: 'Makes ten new recovery codes and shows them once',
    description: `Earlier codes stop working. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
});
