/** The texts of the frame of the console. Each room of pages has its own besides. */
export const CONSOLE_TEXTS = {
  console: 'Console',
  apps: 'Your apps',
  sections: 'Pages of this app',
  mode: 'Mode',
  live: 'Live',
  sandbox: 'Sandbox',
  path: 'Where you are',
  sandboxBand: 'Sandbox: play money. No provider is asked and nothing is paid.',
  suspended: 'This app is suspended: its keys are refused. Ask the operator of this service why.',
  noApp: 'You have no such app.',
  notAllowed: 'Your role in this app does not allow changes here. Ask one of its owners.',
  toConsole: 'To your apps',
  verifyFirst: (email: string) =>
    `Live keys need a verified e-mail. Open the link that we have mailed to ${email}. The sandbox works without it.`,
  sendAgain: 'Mail the link again',
} as const;
