import { type Letter, plainName } from '#mail/letter.ts';

interface CodeMail {
  readonly operatorName: string;
  /** The app's own name for itself, which anybody could have written. Undefined if no app asked. */
  readonly appName: string | undefined;
  readonly code: string;
}

/**
 * The mail with a one-time code. The code is not in the subject, because locked screens and the logs of mail servers show
 * subjects. The text names the app first: somebody who was tricked into this should notice before they read the code.
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
            ? `Somebody, most likely you, is signing in to a wallet at ${operatorName}.`
            : `Somebody, most likely you, is signing in at ${operatorName}. The app that asked for this calls itself "${app}".`,
      },
      { text: 'Your code is:' },
      { copy: code },
      {
        text: `It is valid for ten minutes and works once, in the browser that asked for it. Do not share it with anybody: ${operatorName} never asks for it by phone, e-mail or chat.`,
      },
      { text: 'If this was not you, ignore this e-mail. Nobody can sign in without the code.' },
    ],
  };
}

interface WayInMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly token: string;
}

/**
 * The mail to a person whose e-mail got so many codes that no browser we do not know gets another. Its link grants no
 * access: the page behind it mails one more code.
 */
export function wayInMail({ operatorName, publicUrl, token }: WayInMail): Letter {
  return {
    sender: operatorName,
    subject: 'Sign in from your own browser',
    parts: [
      {
        text: `Somebody asked ${operatorName} for many codes for this e-mail address, so we have stopped sending them for a while. Nobody can sign in without a code.`,
      },
      { text: 'If you want to sign in, open this link within two hours, in the browser where you want to sign in:' },
      { link: `${publicUrl}/wallet/sign-in/own?token=${token}`, name: 'Get a code' },
      { text: 'If you do not want to sign in, you do not have to do anything.' },
    ],
  };
}

/** Tells a person about a new passkey of theirs. If somebody else added it, this mail is how they find out. */
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
        text: `Somebody, most likely you, added a passkey to your wallet at ${operatorName}. It can be used to sign in without a code.`,
      },
      { text: 'If this was not you, remove the passkey and sign out everywhere:' },
      { link: `${publicUrl}/wallet/passkeys`, name: 'See your passkeys' },
    ],
  };
}

interface ReleasedMail {
  readonly operatorName: string;
  readonly supportEmail: string | undefined;
  readonly appName: string;
}

/** Tells a person that an operator has taken a wallet from them (WA-15). */
export function releasedMail({ operatorName, supportEmail, appName }: ReleasedMail): Letter {
  return {
    sender: operatorName,
    subject: 'A wallet is no longer yours',
    parts: [
      {
        text: `${operatorName} has released your wallet for the app "${plainName(appName)}" from this e-mail address. The money stays in the wallet, and nothing is spent from it until somebody connects it again through the app.`,
      },
      { text: `If you did not ask for this, ${contact(operatorName, supportEmail)} at once.` },
    ],
  };
}

interface MovedMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly supportEmail: string | undefined;
  /** Tells whether the mail goes to the address that no longer signs in. */
  readonly isOld: boolean;
}

/** Tells a person at both addresses that an operator has given them another e-mail (WA-15). Neither mail names the other address. */
export function movedMail({ operatorName, publicUrl, supportEmail, isOld }: MovedMail): Letter {
  const said = isOld
    ? `${operatorName} has moved your wallets to another e-mail address. You can no longer sign in to them with this one. All sessions were ended and all passkeys removed.`
    : `${operatorName} has moved your wallets to this e-mail address. Sign in with it from now on: we will send you a code. All sessions were ended and all passkeys removed.`;
  return {
    sender: operatorName,
    subject: isOld
      ? 'Your wallets have moved to another e-mail address'
      : 'Your wallets have moved to this e-mail address',
    parts: [
      { text: said },
      ...(isOld ? [] : [{ link: `${publicUrl}/wallet`, name: 'See your wallets' }]),
      { text: `If you did not ask for this, ${contact(operatorName, supportEmail)} at once.` },
    ],
  };
}

/** How a mail says whom to ask. */
export function contact(operatorName: string, supportEmail: string | undefined): string {
  return supportEmail === undefined ? `tell ${operatorName}` : `write to ${supportEmail}`;
}

interface AlertMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly connectionId: string;
  readonly appName: string;
  /** The share that is spent, in percent of the cap. At 100, less than one percent is left. */
  readonly share: number;
  readonly spent: string;
  readonly cap: string;
}

/** Tells the owner of a wallet that a share of the monthly cap is spent, as they asked for. */
export function alertMail({ operatorName, publicUrl, connectionId, appName, share, spent, cap }: AlertMail): Letter {
  const app = plainName(appName);
  const isUsedUp = share === 100;
  return {
    sender: operatorName,
    subject: isUsedUp ? `${app} has used up your monthly cap` : `${app} has spent ${share} % of your monthly cap`,
    parts: [
      { text: `The app "${app}" has spent ${spent} of your monthly cap of ${cap}.` },
      {
        text: isUsedUp
          ? 'Its requests are refused until you raise the cap or a new month begins (UTC).'
          : 'It can go on spending until the cap is reached. Then its requests are refused until you raise the cap or a new month begins (UTC).',
      },
      { text: 'You asked for this e-mail. You can change the cap, pause the app or stop these e-mails here:' },
      { link: `${publicUrl}/wallet/${connectionId}`, name: 'Open your wallet' },
    ],
  };
}

interface DroppedMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  /** The name that the owner gave the app. */
  readonly appName: string;
  readonly appId: string;
  readonly eventId: string;
  /** Tells whether this was one dropped event too many, so that the endpoint gets no more. */
  readonly isDisabled: boolean;
}

/** Tells the owner of an app that its endpoint fails (WH-12). */
export function droppedMail({ operatorName, publicUrl, appName, appId, eventId, isDisabled }: DroppedMail): Letter {
  const app = `${plainName(appName)} (${appId})`;
  const look = `GET /apps/${appId}/webhook/deliveries shows every attempt with the status that your endpoint returned.`;
  return {
    sender: operatorName,
    subject: isDisabled ? 'Your app receives no more events' : 'An event could not be delivered to your app',
    parts: [
      {
        text: `The endpoint of your app ${app} did not accept the event ${eventId} in six attempts within about five minutes. The event was dropped and will not be sent again.`,
      },
      {
        text: isDisabled
          ? 'It was the fifth dropped event in a row, so the endpoint was disabled. Your app receives no events until you enable it again.'
          : 'After five dropped events in a row, the endpoint is disabled. One delivered event resets the count. You get at most one such e-mail an hour.',
      },
      {
        text: `What to do: ${look} Find out why it failed: it must answer with a 2xx within five seconds.${isDisabled ? ` Then send PUT /apps/${appId}/webhook again to enable it.` : ''} Use GET /balance to find out what your app has missed.`,
      },
      { link: `${publicUrl}/docs`, name: 'API reference' },
    ],
  };
}

interface ResetMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly token: string;
}

/** The mail with which the owner of an account sets a new password. */
export function resetMail({ operatorName, publicUrl, token }: ResetMail): Letter {
  return {
    sender: operatorName,
    subject: 'Set a new password',
    parts: [
      {
        text: `Somebody, most likely you, asked to set a new password for your account at ${publicUrl}. If this was not you, you do not have to do anything.`,
      },
      { text: 'To choose a new password, open this link within an hour:' },
      { link: `${publicUrl}/password-reset/use?token=${token}`, name: 'Choose a new password' },
      { text: 'A program can send this token with the new password to POST /password-resets/use instead:' },
      { copy: token },
    ],
  };
}
