/** The texts of the mailbox of a development service. */
export const MAILBOX_TEXTS = {
  title: 'Mailbox',
  what: 'Every e-mail that this development service sends, newest first. Nothing leaves this machine unless you set a mail server.',
  none: 'No e-mails yet.',
  toStart: 'Go to the start page',
  deleted: 'The text was deleted.',
  hasHtml: 'This e-mail also has an HTML version:',
  showHtml: 'show it',
  fate: { taken: 'sent', refused: 'refused by the mail server', given_up: 'not sent' },
} as const;
