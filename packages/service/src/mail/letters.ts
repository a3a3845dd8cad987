import { type Letter, plainName } from '#mail/letter.ts';

interface CodeMail {
  readonly operatorName: string;
  /** As its developer wrote it. */
  readonly appName: string | undefined;
  readonly code: string;
}

/**
 * The mail with a one-time code. The code is not in the subject: locked screens and the logs of mail servers show that, and
 * who opens the mail reads first who asks.
 */
export function codeMail({ operatorName, appName = '', code }: CodeMail): Letter {
  const app = plainName(appName);
  return {
    sender: operatorName,
    subject: `Your code for ${operatorName}`,
    parts: [
      {
        text:
          app === ''
            ? `Somebody, most likely you, signs in to a wallet at ${operatorName}.`
            : `Somebody, most likely you, signs in at ${operatorName}. The app that asks calls itself "${app}".`,
      },
      { text: 'The code is:' },
      { copy: code },
      {
        text: `It lasts ten minutes and works once, in the browser that asked for it. Tell it to nobody: ${operatorName} never asks for it by phone, mail or chat.`,
      },
      { text: 'If it was not you, ignore this mail. Without the code nobody gets in.' },
    ],
  };
}

/** Tells a person that somebody can sign in with one more passkey: if it was not he, he must hear of it. */
export function passkeyMail({
  operatorName,
  publicUrl,
}: {
  readonly operatorName: string;
  readonly publicUrl: string;
}): Letter {
  return {
    sender: operatorName,
    subject: 'A passkey was added to your wallet',
    parts: [
      {
        text: `Somebody, most likely you, added a passkey to your wallet at ${operatorName}. It signs in without a code.`,
      },
      { text: 'If it was not you, remove it and sign out everywhere:' },
      { link: `${publicUrl}/wallet/passkeys`, name: 'See your passkeys' },
    ],
  };
}

interface ResetMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly token: string;
}

/** The mail by which an account's owner sets a new password. */
export function resetMail({ operatorName, publicUrl, token }: ResetMail): Letter {
  return {
    sender: operatorName,
    subject: 'Set a new password',
    parts: [
      {
        text: `Somebody, most likely you, asked to set a new password for your account at ${publicUrl}. If it was not you, there is nothing to do.`,
      },
      { text: 'Within an hour, choose a new password there:' },
      { link: `${publicUrl}/password-reset/use?token=${token}`, name: 'Choose a new password' },
      { text: 'A program sends this token with the new password to POST /password-resets/use instead:' },
      { copy: token },
    ],
  };
}
