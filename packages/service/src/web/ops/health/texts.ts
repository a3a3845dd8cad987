/** The texts of the page on how the service runs. */
export const HEALTH_TEXTS = {
  free: 'Free disk space',
  ofDisk: (total: string) => `of ${total}, for the data directory`,
  block: 'Longest pause in the last minute',
  blockNote: 'of a process that was too busy to react',
  doctorWhat: (ago: string) => `The last check was ${ago}. The command npm run purser -- doctor runs the same checks.`,
  levels: { bad: 'problem', warn: 'warning', good: 'good' },
  queueNames: {
    settlements: 'Settlements on disk',
    deliveries: 'Deliveries of events',
    mail: 'Mail',
    traces: 'Traces of calls',
    audit: 'Acts without a line in the chain',
  },
  stats: (text: string) => `New receipts were last added to the statistics ${text}.`,
  ago: (text: string) => `${text} ago`,
  checksWhat:
    'Changed wallets are checked every minute, and the results are added up here by the hour. The command npm run purser -- ledger check reads every wallet.',
  kinds: { full: 'all wallets', changes: 'changed wallets, one hour' },
} as const;
