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
  address_blocked: 'The name resolves to an address that is not public',
  certificate_invalid: 'The certificate is not valid',
} as const;

export const WEBHOOKS_TEXTS = {
  title: 'Webhooks',
  what: 'We tell your server about payments, low balances and new users. Each app has one endpoint.',
  noSandbox:
    'The sandbox sends no events: this endpoint receives events of live wallets. You can send a test event at any time.',
  endpoint: 'Endpoint',
  url: 'Address',
  urlHint: 'An https address on the public Internet, without credentials: https://app.example/purser',
  events: 'Events',
  threshold: (currency: string) => `Threshold for balance.low, in ${currency}`,
  thresholdFault: 'Threshold: enter the amount in digits, with a point or a comma before the cents.',
  subscribe: 'Subscribe',
  save: 'Save',
  enable: 'Enable it again',
  disabled:
    'The endpoint is disabled, because five events in a row could not be delivered. New events are not stored for it. Fix the endpoint, enable it again below, then send a test event.',
  status: 'Status',
  active: 'Active',
  isDisabled: 'Disabled',
  dropped: 'Dropped in a row',
  droppedOf: (count: number) => `${count} of 5`,
  fingerprint: 'Fingerprint of the secret',
  secret: 'Signing secret',
  secretOnce: 'Copy it now. It is not shown again.',
  secretWhat: 'Every delivery is signed with it. Your server must check the signature before it trusts an event.',
  rotate: 'Make a new secret',
  rotateWhat:
    'The new secret takes effect at once, and the old one is never used again. Until your server has the new one, it will refuse our deliveries. We repeat them for five minutes.',
  remove: 'Remove the endpoint',
  removeWhat: 'Deliveries stop at once. Waiting events are never sent, and the secret is destroyed.',
  test: 'Send a test event',
  testWhat:
    'It is signed like every event and sent once, now: to the endpoint, if it is subscribed to this type, and to every running purser listen. Its ID begins with evt_test_ and its user is test-event. It counts neither as a failure nor as a success.',
  testType: 'Type',
  send: 'Send',
  typeFault: (types: string) => `Type: must be one of ${types}.`,
  sent: 'The test event was delivered',
  notSent: 'The test event was not delivered',
  body: 'Body',
  toEndpoint: 'To the endpoint',
  passedOver: {
    no_endpoint: 'There is no endpoint',
    disabled: 'Nothing was sent: the endpoint is disabled',
    not_subscribed: 'Nothing was sent: the endpoint is not subscribed to this type',
  },
  toListeners: 'To purser listen',
  noListeners: 'None is running',
  listeners: (count: number) =>
    count === 1
      ? 'One command received it. Its terminal shows your answer.'
      : `${count} commands received it. Their terminals show your answers.`,
  status2xx: (status: number, ms: number) => `Status ${status} after ${ms} ms`,
  noStatus: (error: string, ms: number) => `${error} (${ms} ms)`,
  deliveries: 'Deliveries',
  caption: 'Newest first. Events are kept for 30 days.',
  columns: ['When', 'Event', 'User', 'State', 'Attempts', 'Last answer'],
  state: 'State',
  all: 'All',
  none: 'No events match.',
  noneYet: 'There are no events yet. Send a test event, or let a user connect.',
  older: 'Older events',
  newest: 'Newest events',
  asData: 'For programs:',
  done: new Map([
    ['saved', 'The endpoint was saved.'],
    ['revoked', 'The listen token was revoked. A command that uses it ends within 20 seconds.'],
    ['removed', 'The endpoint was removed. Nothing more is sent.'],
  ]) as ReadonlyMap<string | null, string>,
} as const;

export const DELIVERY_TEXTS = {
  title: 'One event',
  none: 'This app has no event with this ID. Events are kept for 30 days, and test events are not kept.',
  noneTitle: 'No such event',
  facts: 'Facts',
  id: 'Event ID',
  type: 'Type',
  state: 'State',
  happened: 'Happened',
  next: 'Next attempt',
  body: 'Body, as sent',
  noBody: 'The body of this event was not kept.',
  attempts: 'Attempts',
  attemptsWhat: 'An event is delivered when your server answers with a 2xx status. The body of the answer is not kept.',
  columns: ['No.', 'When (UTC)', 'Answer'],
  noAttempts: 'Nothing has been sent yet.',
  missed: 'If you missed it',
  missedWhat: 'A dropped event is not sent again. You can ask for the current facts at any time:',
  missedTexts: {
    'balance.low': 'The answer shows what the user has now. Compare availableMicros with your threshold.',
    'topup.completed': 'The answer shows what the user has now. The payment is part of balanceMicros.',
    'connection.created': 'The answer is a 200 if the user is connected, and otherwise a 402 with the code.',
  },
  ask: 'Ask for the balance',
} as const;

export const LOCAL_TEXTS = {
  heading: 'On your own machine',
  what: 'You do not need an endpoint: this command fetches the events of this app, including test events, and forwards them to a server on your machine. It prints its own signing secret.',
  command: 'Command',
  asks: 'The command asks for a listen token. A token reads the events of this app and opens nothing else. It works for 24 hours, and ends when you sign out.',
  make: 'Make a listen token',
  made: 'Your listen token',
  once: 'The token is part of this command. Copy it now: it is not shown again.',
  commandWithToken: 'Command with the token',
  caption: 'Current listen tokens',
  columns: ['Made by', 'Last used', 'Expires', 'Revoke'],
  never: 'Never',
  revoke: 'Revoke',
} as const;
