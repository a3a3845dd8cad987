/**
 * The rooms of an area are its folders. Each row says which rooms of the same area a room may import, and names only rooms
 * above it. The files directly in the area are on top: they may import every room, and no room imports them.
 */
export const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  gateway: {
    call: [],
    usage: ['call'],
    answer: ['call', 'usage'],
    request: ['call', 'usage'],
    upstream: ['call', 'usage'],
    lanes: ['call', 'usage', 'answer', 'upstream'],
    idempotency: ['call', 'answer'],
    stream: ['call', 'usage', 'answer', 'idempotency'],
  },
  ledger: {
    statements: [],
    hold: [],
    settlement: [],
    turn: ['hold', 'settlement'],
    wallet: ['statements'],
    funding: ['statements'],
    recovery: [],
    check: [],
  },
  web: {
    format: [],
    components: ['format'],
    frame: ['format', 'components'],
    'wallet-owner': ['components', 'frame'],
    start: ['components', 'frame'],
    development: ['format', 'components', 'frame'],
    account: ['components', 'frame'],
    console: ['format', 'components', 'frame'],
    'console-calls': ['format', 'components', 'frame', 'console'],
    guides: ['components', 'frame', 'console'],
    'console-webhooks': ['format', 'components', 'frame', 'console'],
    'console-home': ['format', 'components', 'frame', 'console'],
    'console-playground': ['format', 'components', 'frame', 'console'],
    'console-keys': ['format', 'components', 'frame', 'console'],
    'console-team': ['format', 'components', 'frame', 'console'],
    'console-users': ['format', 'components', 'frame', 'console', 'console-calls'],
    'sign-in': ['components', 'frame', 'wallet-owner'],
    'test-processor': ['components', 'frame', 'wallet-owner'],
    wallet: ['format', 'components', 'frame', 'wallet-owner'],
    topup: ['format', 'components', 'frame', 'wallet-owner'],
    connect: ['format', 'components', 'frame', 'wallet-owner', 'topup'],
  },
};
