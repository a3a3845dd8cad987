import { type Letter, plainName } from '#mail/letter.ts';

interface InvitationMail {
  readonly operatorName: string;
  readonly publicUrl: string;
  /** The app's own name for itself, which anybody could have written. */
  readonly appName: string;
  /** The e-mail of the owner who invites. */
  readonly by: string;
  readonly role: string;
  readonly token: string;
}

/** The mail that invites somebody to the team of an app. */
export function invitationMail({ operatorName, publicUrl, appName, by, role, token }: InvitationMail): Letter {
  return {
    sender: operatorName,
    subject: `You are invited to the team of an app at ${operatorName}`,
    parts: [
      {
        text: `${by} invites you to the team of the app "${plainName(appName)}" in the role of ${role}. If you do not know them, ignore this e-mail.`,
      },
      {
        text: 'To accept, open this link within seven days. You need an account with this e-mail address; the page helps you create one:',
      },
      { link: `${publicUrl}/invitation?token=${token}`, name: 'See the invitation' },
      { text: 'A program can send this token to POST /invitations/accept instead:' },
      { copy: token },
    ],
  };
}
