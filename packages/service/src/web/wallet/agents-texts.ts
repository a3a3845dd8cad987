/** The texts of the page `/wallet/:part/agents`. */
export const AGENTS_TEXTS = {
  title: (app: string) => `Coding agents for ${app}`,
  toWallet: 'Back to the wallet',
  what: (app: string) =>
    `Each of these keys spends from this wallet and from no other. The people of ${app} made them for you, and cannot raise your cap.`,
  none: (app: string, user: string) =>
    `No key of ${app} spends from this wallet alone. To run Codex, Claude Code or another coding agent, ask the people of ${app} for a key that is bound to “${user}”.`,
  sessions: 'What sessions of coding agents have cost',
  guide: 'How to run a coding agent with this wallet',
  unnamed: 'Unnamed key',
  left: 'May spend now',
  budget: 'Monthly budget',
  noBudget: 'none: your balance and cap decide',
  spent: 'Spent this month',
  unknown: 'Not known at the moment',
  held: 'On hold',
  expires: 'Expires',
  noExpiry: 'never',
  lastUsed: 'Last used',
  never: 'never',
  models: 'Models',
  stop: 'Stop this key',
  stopWhat: (app: string) =>
    `Its next call is refused. Calls that are running continue. This cannot be undone, but the people of ${app} can make another key.`,
  stopYes: 'Stop it for good',
  stopYesOf: (name: string) => `Stop it for good: ${name}`,
  elsewhere: 'This key cannot be stopped from this part of the service. Pause spending instead: that stops all keys.',
  paste: 'Put your key in place of the dots. It was shown once, to the person who made it, and nobody can look it up.',
  noModel: 'There is no model that these keys may call.',
  done: new Map([
    ['stopped', 'The key was stopped.'],
    ['none', 'There is no such key any more.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;
