import type { DOCTOR_CHECKS } from '@purser/contract/doctor.ts';

/** Why each check matters, and what to do if it is not good. */
export const REMEDIES: Readonly<
  Record<(typeof DOCTOR_CHECKS)[number], { readonly why: string; readonly remedy: string }>
> = {
  database: {
    why: 'No call is admitted without it.',
    remedy: 'Start the database, and check DATABASE_URL. The embedded database runs while the service runs.',
  },
  start: {
    why: 'The next start ends with this, and changes nothing in the database.',
    remedy: 'Do what the sentence says, and run this again.',
  },
  schema: {
    why: 'A build reads and writes only the schema that it knows.',
    remedy: 'Start the newest build, or run `npm run purser -- migrate` with it.',
  },
  restored: {
    why: 'The copy and its original would both take calls, pay refunds and send e-mails, and neither would know about the other.',
    remedy: 'Make sure that the original is stopped, and run `npm run purser -- backup accept`.',
  },
  server: {
    why: 'Purser needs PostgreSQL 15 or newer, UTF-8, and a server that accepts writes.',
    remedy:
      'Set DATABASE_URL to the primary server. If the system library has changed, reindex and run `alter database ... refresh collation version`.',
  },
  replication: {
    why: 'Without a standby that confirms, a failover loses the last commits: charges, top-ups and refunds.',
    remedy:
      'Set synchronous_standby_names, for example to `ANY 1 (a, b)`, with two standbys, so that commits go on when one is away.',
  },
  backups: {
    why: 'If a disk is lost or somebody makes a mistake, everything since the last backup is gone.',
    remedy: 'Set up backups with a log archive, as docs/guides/operator/backup.md says, and restore one.',
  },
  prices: {
    why: 'Calls to a model without a price are refused. If a price is below what the provider charges now, each call loses money.',
    remedy: 'Compare with a public list: `npm run purser -- catalogue prices`.',
  },
  'database-settings': {
    why: 'A crash of the server can lose committed data, or its tables grow until it is slow.',
    remedy: 'Set it back to `on` in postgresql.conf and reload the server.',
  },
  connections: {
    why: 'Without a free connection, calls are refused and gateways cannot start.',
    remedy: 'Raise max_connections, or run fewer gateway processes (PURSER_WORKERS).',
  },
  clock: {
    why: 'Links, codes and leases begin by one clock and end by the other.',
    remedy: 'Run a time service such as chrony on both machines.',
  },
  secret: {
    why: 'A gateway with another secret recognises no links, retries or pseudonyms of the others, and does not start. A former secret that still opens the database is worth stealing.',
    remedy:
      'Set the secret that the gateways of this database use. After a change of the secret, unset PURSER_SECRET_ALSO.',
  },
  gateways: {
    why: 'Nobody answers calls, releases the holds of dead processes or checks the ledger.',
    remedy: 'Start the service.',
  },
  books: {
    why: 'The balance of a wallet may not be the sum of what happened to it.',
    remedy: 'Run `npm run purser -- ledger check`, and keep its output. Look for a restored backup or edits by hand.',
  },
  'full-check': {
    why: 'The check of every minute looks only at what has changed.',
    remedy: 'Run `npm run purser -- ledger check` every night, and after each restore and upgrade.',
  },
  disk: {
    why: 'Settlements wait on this disk while the database is away. A gateway with a full disk takes no calls.',
    remedy: 'Make room, or move PURSER_DATA_DIR to a larger disk.',
  },
  mail: {
    why: 'People cannot sign in to wallets, reset a password or learn about a refund.',
    remedy: 'Set SMTP_URL and PURSER_MAIL_FROM, and look in the log for what the mail server answers.',
  },
  webhooks: {
    why: 'Apps do not learn about payments and low balances.',
    remedy: 'Start `npm run purser -- work` beside the gateways, or ask the owners of disabled endpoints to fix them.',
  },
  'provider-keys': {
    why: 'Calls to their models are refused, or go to the next provider.',
    remedy: 'Set the variable that the catalogue names, or the key and its hosts in PURSER_PROVIDER_KEYS, and restart.',
  },
  'public-url': {
    why: 'For everybody else, links in e-mails and payments lead nowhere.',
    remedy: 'Set PURSER_PUBLIC_URL to the address that people open.',
  },
  proxies: {
    why: 'Every caller seems to come from the proxy, so one of them can use up the limits of all.',
    remedy: 'Set PURSER_PROXY_HOPS to the number of proxies that add to `x-forwarded-for`.',
  },
  payments: {
    why: 'Users cannot fill their wallets with real money.',
    remedy: 'Set PURSER_STRIPE_SECRET_KEY to a live key.',
  },
  'second-factors': {
    why: 'Nobody works as an operator without one, and only a password keeps an attacker out of such an account.',
    remedy: 'Each operator adds one at /account/second-factor. Disable accounts that nobody needs.',
  },
  'single-sign-on': {
    why: 'A provider that asks for a password alone lets a stolen one in as an operator.',
    remedy:
      'Let the provider ask for a second factor, and set PURSER_OIDC_REQUIRE to what it then sends, such as amr=mfa.',
  },
  'second-person': {
    why: 'An act above PURSER_SECOND_PERSON_MICROS can never be done.',
    remedy: 'Create a second operator with the role finance or admin, or set PURSER_SECOND_PERSON_MICROS to `none`.',
  },
  settings: {
    why: 'A misspelt setting has no effect, and the default is in force.',
    remedy: 'Correct the name, or unset it. docs/guides/operator/settings.md lists them all.',
  },
};
