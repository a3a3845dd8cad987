/** The texts of the pages of webhooks. */
export const EVENT_TEXTS = {
  'balance.low': 'balance.low: the available balance of a user falls below your threshold',
  'topup.completed': 'topup.completed: a payment of a user was verified',
  'connection.created': 'connection.created: a user connected for the first time',
} as const;

export const STATE_TEXTS = {
  pending: 'Waiting',
  delivered: 'Delivered',
  dropped: 'Dropped',
} as const;

/** Why an attempt had no answer, in words. */
export const ERROR_TEXTS = {
  timeout: 'No answer within 5 s',
  connection_failed: 'No connection',
  address_blocked: 'The name leads to an address that is not public',
  certificate_invalid: 'The certificate is not valid',
} as const;

export const WEBHOOKS_TEXTS = {
  title: 'Webhooks',
  what: 'Your server learns of payments, low balances and new users without asking. Each app has one endpoint.',
  noSandbox: 'The sandbox sends no events: this endpoint gets events of live wallets. A test event works at any time.',
  endpoint: 'Endpoint',
  url: 'Address',
  urlHint: 'An https address on the public Internet, without credentials: https://app.example/purser',
  events: 'Events',
  threshold: (currency: string) => `Threshold of balance.low, in ${currency}`,
  thresholdFault: 'Threshold: write the amount in digits, with a point or a comma before the cents.',
  subscribe: 'Subscribe',
  save: 'Save',
  enable: 'Enable it again',
  disabled:
    'The endpoint is disabled: five events in a row could not be delivered. Nothing is stored for it now. Mend the endpoint, send a test, then enable it again below.',
  status: 'Status',
  active: 'Active',
  isDisabled: 'Disabled',
  dropped: 'Dropped in a row',
  droppedOf: (count: number) => `${count} of 5`,
  fingerprint: 'Fingerprint of the secret',
  secret: 'Signing secret',
  secretOnce: 'Copy it now. It is not shown again.',
  secretWhat: 'Every delivery is signed with it. Your server checks the signature before it believes an event.',
  rotate: 'Make a new secret',
  rotateWhat:
    'The new secret is in force at once, and the old one is never used again. Until your server has the new one, it refuses our deliveries; they are repeated for five minutes.',
  remove: 'Remove the endpoint',
  removeWhat: 'Deliveries end at once. Events that wait are never sent, and the secret is destroyed.',
  test: 'Send a test event',
  testWhat:
    'It is signed like every event and sent once, now: to the endpoint, and to every running purser listen. Its id begins with evt_test_ and its user is test-event. It counts neither as a failure nor as a success.',
  testType: 'Type',
  send: 'Send',
  typeFault: (types: string) => `Type: must be one of ${types}.`,
  sent: 'The test event was delivered',
  notSent: 'The test event was not delivered',
  body: 'Body',
  toEndpoint: 'To the endpoint',
  noEndpoint: 'There is no endpoint',
  toListeners: 'To purser listen',
  noListeners: 'None is running',
  listeners: (count: number) =>
    count === 1
      ? 'One was given it. Its terminal shows your answer.'
      : `${count} were given it. Their terminals show your answers.`,
  status2xx: (status: number, ms: number) => `Status ${status} after ${ms} ms`,
  noStatus: (error: string, ms: number) => `${error} (${ms} ms)`,
  deliveries: 'Deliveries',
  caption: 'The newest first. Events are kept for 30 days.',
  columns: ['When', 'Event', 'User', 'State', 'Attempts', 'Last answer'],
  state: 'State',
  all: 'All',
  none: 'No event matches this.',
  noneYet: 'No event yet. Send a test event, or let a user connect.',
  older: 'Older events',
  newest: 'Newest events',
  asData: 'The same as data:',
  done: new Map([
    ['saved', 'The endpoint was saved.'],
    ['revoked', 'The listen token was revoked. A command that waits with it ends within 20 seconds.'],
    ['removed', 'The endpoint was removed. Nothing is sent any more.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const DELIVERY_TEXTS = {
  title: 'One event',
  none: 'This app has no event with this id. Events are kept for 30 days, and test events are not kept.',
  noneTitle: 'No such event',
  facts: 'Facts',
  id: 'Event id',
  type: 'Type',
  state: 'State',
  happened: 'Happened',
  next: 'Next attempt',
  body: 'Body, as it is sent',
  noBody: 'The body of this event was not kept.',
  attempts: 'Attempts',
  attemptsWhat: 'An answer of 2xx takes the event. The body of an answer is not kept.',
  columns: ['No.', 'When (UTC)', 'Answer'],
  noAttempts: 'Nothing was sent yet.',
  missed: 'If you missed it',
  missedWhat:
    'A dropped event is not sent again. Its facts can be asked for at any time, and are newer than those of the event:',
  missedTexts: {
    'balance.low': 'What the user has now. Compare availableMicros with your threshold.',
    'topup.completed': 'What the user has now. The payment is part of balanceMicros.',
    'connection.created': 'Whether the user is connected: a 200 if so, otherwise a 402 with the code.',
  },
  ask: 'Ask for the balance',
} as const;

export const LOCAL_TEXTS = {
  heading: 'On your own machine',
  what: 'No endpoint is needed: this command fetches the events of this app, test events too, and forwards them to a server on your machine. It prints a signing secret of its own.',
  command: 'Command',
  asks: 'The command asks for a listen token. A token reads the events of this app and opens nothing else. It works for 24 hours, and ends when you sign out.',
  make: 'Make a listen token',
  made: 'Your listen token',
  once: 'It is part of this command. Copy it now: it is not shown again.',
  commandWithToken: 'Command with the token',
  caption: 'Listen tokens that work now',
  columns: ['Made by', 'Last used', 'Works until', 'Revoke'],
  never: 'Never',
  revoke: 'Revoke',
} as const;
