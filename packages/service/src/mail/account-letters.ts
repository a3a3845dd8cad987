import type { Letter } from '#mail/letter.ts';

interface VerifyMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  readonly token: string;
}

/** The mail with which the owner of an account proves their e-mail. */
export function verifyMail({ operatorName, publicUrl, token }: VerifyMail): Letter {
  return {
    sender: operatorName,
    subject: 'Verify your e-mail',
    parts: [
      {
        text: `Somebody, most likely you, created an account for app developers at ${operatorName} with this e-mail address. If this was not you, ignore this e-mail: without this link and the password, the account cannot do anything that matters.`,
      },
      {
        text: 'To verify your e-mail address, open this link within three days, in a browser where you are signed in:',
      },
      { link: `${publicUrl}/account/verify?token=${token}`, name: 'Verify this e-mail' },
      { text: 'A program can send this token to POST /email-verifications/use instead:' },
      { copy: token },
    ],
  };
}

/** The mail with the code for the first second factor of an operator. */
export function enrolmentMail({
  operatorName,
  code,
}: {
  readonly operatorName: string;
  readonly code: string;
}): Letter {
  return {
    sender: operatorName,
    subject: 'Your code for a second factor',
    parts: [
      {
        text: `Somebody, most likely you, is adding the first second factor to your operator account at ${operatorName}. Enter this code on that page within an hour:`,
      },
      { copy: code },
      {
        text: 'If this was not you, somebody knows your password. Do not give the code to anybody, and set a new password at once.',
      },
    ],
  };
}

/** What happened to an account. It has the fields of `AccountNews` in `accounts`, of which this folder knows nothing. */
type News =
  | { readonly kind: 'signed-in' | 'second-factor-guessed'; readonly from: string }
  | { readonly kind: 'recovery-code-used'; readonly left: number }
  | { readonly kind: 'role-changed'; readonly role: string }
  | {
      readonly kind:
        | 'password-changed'
        | 'authenticator-added'
        | 'authenticator-removed'
        | 'passkey-added'
        | 'passkey-removed'
        | 'recovery-codes-made'
        | 'second-factor-removed-by-operator'
        | 'sso-linked'
        | 'sso-unlinked';
    };

interface NewsMail {
  readonly operatorName: string;
  /** When it happened, as text in UTC. */
  readonly at: string;
  readonly news: News;
}

const NOT_YOU_PASSWORD = 'set a new password, and sign out everywhere else';

/** The subject, what happened, and what to do if it was not the reader. */
function wordsOf(news: News, at: string): readonly [subject: string, said: string, remedy: string] {
  switch (news.kind) {
    case 'signed-in': {
      const said = `Somebody, most likely you, signed in to your account at ${at} with a browser or program that we do not know. The network address is ${news.from}.`;
      return ['A new sign-in to your account', said, NOT_YOU_PASSWORD];
    }
    case 'second-factor-guessed': {
      const said = `Somebody entered the password of your account at ${at}, and then five wrong codes. Nobody was signed in. The network address is ${news.from}.`;
      return [
        'Somebody knows your password',
        said,
        `${NOT_YOU_PASSWORD} at once: only the second factor is keeping them out`,
      ];
    }
    case 'recovery-code-used': {
      const said = `A recovery code of your account was used at ${at}. It no longer works. You have ${news.left} left.`;
      return ['A recovery code was used', said, `${NOT_YOU_PASSWORD}. Then make new recovery codes`];
    }
    case 'password-changed': {
      const said = `The password of your account was changed at ${at}, and every other session was signed out.`;
      return ['Your password was changed', said, 'ask for a password reset'];
    }
    case 'authenticator-added':
      return ['An authenticator app was added', `An authenticator app was added to your account at ${at}.`, REMOVE];
    case 'authenticator-removed':
      return ['An authenticator app was removed', `The authenticator app of your account was removed at ${at}.`, AGAIN];
    case 'passkey-added':
      return [
        'A passkey was added',
        `A passkey was added to your account at ${at}. It can sign in without a password.`,
        REMOVE,
      ];
    case 'passkey-removed':
      return ['A passkey was removed', `A passkey of your account was removed at ${at}.`, AGAIN];
    case 'recovery-codes-made': {
      const said = `New recovery codes were made for your account at ${at}. The old ones no longer work.`;
      return ['New recovery codes', said, `${NOT_YOU_PASSWORD}. Then make new recovery codes`];
    }
    case 'role-changed': {
      const said = `An operator changed the role of your account to “${news.role}” at ${at}, and every session was signed out.`;
      return ['Your role was changed', said, 'ask the operator'];
    }
    case 'sso-linked': {
      const said = `Your account was linked to your company’s sign-in at ${at}. Its password and second factor were removed, and every other session was signed out.`;
      return ['Your account was linked', said, 'tell the operator at once'];
    }
    case 'sso-unlinked': {
      const said = `An operator removed the link between your account and your company’s sign-in at ${at}. To sign in, ask for a password reset on the sign-in page.`;
      return ['Your account was unlinked', said, 'tell the operator at once'];
    }
    case 'second-factor-removed-by-operator': {
      const said = `An operator removed the second factor of your account at ${at}. Until you add another, your password alone is enough to sign in.`;
      return ['Your second factor was removed', said, 'tell the operator at once'];
    }
  }
}

const REMOVE = `${NOT_YOU_PASSWORD}, and remove what was added`;
const AGAIN = `${NOT_YOU_PASSWORD}, and add your second factor again`;

/**
 * Tells the holder of an account what happened to it. The mail has no link: people must not learn to follow links in mails that
 * alarm them, because such mails are what phishing looks like.
 */
export function accountNewsMail({ operatorName, at, news }: NewsMail): Letter {
  const [subject, said, remedy] = wordsOf(news, at);
  return {
    sender: operatorName,
    subject,
    parts: [
      { text: said },
      { text: 'If this was you, you do not have to do anything.' },
      {
        text: `If it was not you, open ${operatorName} in your browser as you always do, ${remedy}. This e-mail deliberately contains no link.`,
      },
    ],
  };
}
