/** The texts of the mailbox of a development service. */
export const MAILBOX_TEXTS = {
  title: 'Mailbox',
  what: 'Every mail that this development service sends, the newest first. None of it leaves this machine unless a mail server is set.',
  none: 'No mail yet.',
  toStart: 'To the start page',
  deleted: 'The text was deleted.',
  hasHtml: 'The mail also has an HTML version:',
  showHtml: 'show it',
  fate: { taken: 'sent', refused: 'refused by the mail server', given_up: 'not sent' },
} as const;
