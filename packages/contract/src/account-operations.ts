import type { Operation } from './operation.ts';

const tag = 'Accounts and sessions';
const PROVED =
  'Needs a session that was opened, or proved again by `POST /sessions/current/proof`, within ten minutes.';

/** The operations on the e-mail and the second factor of an account. */
export const ACCOUNT_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /email-verifications': {
    id: 'requestEmailVerification',
    tag,
    summary: 'Sends the mail that verifies the e-mail of the account again',
    description: 'The link in the mail before stops working. A 409 means that the e-mail is verified.',
    refuses: ['CONFLICT'],
  },
  'POST /email-verifications/use': {
    id: 'verifyEmail',
    tag,
    summary: 'Verifies the e-mail of the account with the token from that mail',
    description:
      'The token works once, within three days, and only with a session of the account that it was mailed to.',
  },
  'POST /pending-sign-ins/use': {
    id: 'finishSignIn',
    tag,
    summary: 'Ends a sign-in that waits for the second factor, and returns a session token',
    description:
      'Five wrong codes end the sign-in, which then begins again with the password. Programs use the codes of an authenticator app; passkeys work on the pages.',
    refuses: ['UNAUTHORIZED'],
  },
  'POST /sessions/current/proof': {
    id: 'proveSession',
    tag,
    summary:
      'Shows again who uses the session, so that it may change the second factor, move money and change rights for ten minutes',
  },
  'GET /accounts/current/second-factor': {
    id: 'getSecondFactor',
    tag,
    summary: 'Shows the second factors of the account',
  },
  'POST /accounts/current/authenticator': {
    id: 'offerAuthenticator',
    tag,
    summary: 'Begins to add an authenticator app',
    description: `Nothing is stored until a code of the app comes back. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
  'POST /accounts/current/second-factor/code': {
    id: 'requestEnrolmentCode',
    tag,
    summary: 'Mails an operator the code for their first second factor',
    description: `In production, an operator adds the first second factor with this code, so a stolen password alone is worth nothing. It works once, for an hour. Accounts that need no code get a 409. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
  'PUT /accounts/current/authenticator': {
    id: 'addAuthenticator',
    tag,
    summary: 'Adds the authenticator app, with a code that it shows',
    description: `The first second factor of an account comes with ten recovery codes. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
  },
  'DELETE /accounts/current/authenticator': {
    id: 'removeAuthenticator',
    tag,
    summary: 'Removes the authenticator app',
    description: `If no passkey is left either, signing in takes the password alone. ${PROVED}`,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
  },
  'DELETE /accounts/current/passkeys/{passkeyId}': {
    id: 'removePasskey',
    tag,
    summary: 'Removes a passkey of the account',
    description: `Passkeys are added on the page of the account, in a browser. ${PROVED}`,
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
  },
  'POST /accounts/current/recovery-codes': {
    id: 'makeRecoveryCodes',
    tag,
    summary: 'Makes ten new recovery codes and shows them this once',
    description: `The codes before stop working. ${PROVED}`,
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
};
