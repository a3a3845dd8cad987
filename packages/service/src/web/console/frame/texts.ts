/** The texts of the frame of the console. Each room of pages has its own besides. */
export const CONSOLE_TEXTS = {
  apps: 'Your apps',
  sections: 'Pages of this app',
  mode: 'Mode',
  live: 'Live',
  sandbox: 'Sandbox',
  path: 'Where you are',
  sandboxBand: 'Sandbox: play money. No provider is called and nothing is paid.',
  suspended: 'This app is suspended: its keys are refused. Ask the operator of this service why.',
  noApp: 'You have no such app.',
  notAllowed: 'Your role in this app does not allow changes here. Ask one of its owners.',
  toConsole: 'Go to your apps',
  verifyFirst: (email: string) =>
    `You need a verified e-mail address to make live keys. Open the link that we have sent to ${email}. The sandbox works without it.`,
  sendAgain: 'Send the link again',
} as const;
