/** The texts of the pages on which wallet owners sign in and out. */
export const SIGN_IN_TEXTS = {
  title: 'Sign in',
  /** The same words for somebody who has a wallet: a link must not tell who has one (BI-04). */
  forApp: (app: string) =>
    `You pay for ${app} from your own wallet. It takes three steps to continue, and nothing is charged yet.`,
  forWallet: 'Sign in with your e-mail to see your wallet.',
  /** The same words for new people and known ones: the page must not tell who has a wallet. */
  firstTime: 'No password: we e-mail you a code. This also works if you are new here.',
  email: 'E-mail',
  noEmail: 'This does not look like an e-mail address. Check it and try again.',
  send: 'Send me a code',
  codeTitle: 'Enter the code',
  sentTo: (email: string) =>
    `We sent an eight-digit code to ${email}. It is valid for ten minutes, in this browser only.`,
  code: 'Code from the e-mail',
  enter: 'Sign in',
  noMail: 'No e-mail yet? Look in your spam folder, or ask for a new code. The old code then stops working.',
  again: 'Send me a new code',
  otherEmail: 'Use another e-mail',
  ownTitle: 'Get a code in this browser',
  own: (email: string) => `We will send one more code to ${email}. It works in this browser only.`,
  ownVoid: 'This link is no longer valid. Ask for a code instead.',
  voidTitle: 'This code no longer works',
  voidCode:
    'The code has expired, has already been used, or was entered incorrectly too often. Nothing else has changed.',
  askAgain: 'Ask for a new code',
  securityTitle: 'How you sign in',
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  sessionTitle: 'Where you are signed in',
  toWallet: 'Go to your wallet',
  signOut: 'Sign out here',
  signOutEverywhere: 'Sign out everywhere',
  /** Says what signing out does not do: people expect it to stop the spending. */
  everywhereHint:
    'Signing out everywhere signs you out in every browser. Your apps can still spend what you allow them.',
  /** A server of ours did not answer, so a session may be left there. */
  inPartTitle: 'You are signed out here',
  inPart: 'One of our servers did not respond. You may still be signed in there.',
  inPartAdvice: 'To sign out there too, wait a few minutes, sign in again and choose “Sign out everywhere”.',
  signInAgain: 'Sign in',
  useOther: (host: string) => `Already signed in at ${host}? Use that sign-in`,
} as const;

/** The texts for people who come from another cell. */
export const HAND_OVER_TEXTS = {
  refusedTitle: 'This link did not work',
  refused: 'We could not carry your sign-in over from the other page.',
  refusedAdvice:
    'Nothing has changed. Go back to “Your wallet” and choose the app once more, or sign in here with a code.',
  signIn: 'Go to your wallet',
} as const;

/** The texts about passkeys. */
export const PASSKEY_TEXTS = {
  offerTitle: 'Or use a passkey',
  offer: 'If you have added a passkey to your wallet, you do not need a code.',
  use: 'Sign in with a passkey',
  notUsed: 'No passkey was used. Try again, or use a code from an e-mail.',
  title: 'Passkeys',
  what: 'With a passkey you sign in with your fingerprint, your face or your device’s PIN instead of a code. Codes by e-mail still work.',
  /** Browsers bind a passkey to the host, and each cell has its own. */
  onlyHere: 'A passkey signs you in at this address only. From here you can reach all of your wallets.',
  none: 'You have no passkeys yet.',
  addedAt: 'Added',
  lastUsed: 'Last used',
  neverUsed: 'Never used',
  remove: 'Remove',
  add: 'Add a passkey',
  added: 'The passkey was added. You can sign in with it from now on.',
  removed: 'The passkey was removed, so it can no longer sign in. Delete it on your device too.',
  notAdded: 'No passkey was added. Try again if you want one.',
  cannot: 'This browser does not support passkeys. You can still sign in with a code by e-mail.',
  /** Browsers bind passkeys to a name. An IP address has none. */
  noName: 'Passkeys work only at a service with a name. This one is reached by its IP address.',
  needsScripts: 'You need JavaScript to add a passkey. You can still sign in with a code by e-mail.',
  back: 'Back to signing in',
} as const;
