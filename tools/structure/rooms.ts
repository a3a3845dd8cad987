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
    lanes: ['call', 'usage', 'answer'],
    idempotency: ['call', 'answer'],
    stream: ['call', 'usage', 'answer', 'idempotency'],
  },
  ledger: {
    statements: [],
    hold: ['statements'],
    settlement: ['statements'],
    wallet: ['statements'],
    funding: ['statements'],
    recovery: [],
    check: [],
  },
  web: {
    frame: [],
    components: ['frame'],
    person: ['frame', 'components'],
    start: ['frame'],
    development: ['frame', 'components'],
    account: ['frame', 'components'],
    'sign-in': ['frame', 'components', 'person'],
    'test-processor': ['frame', 'components', 'person'],
    wallet: ['frame', 'components', 'person'],
    topup: ['frame', 'components', 'person'],
    connect: ['frame', 'components', 'person', 'topup'],
  },
};
