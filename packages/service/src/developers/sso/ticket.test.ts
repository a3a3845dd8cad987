import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSsoTickets } from '#developers/sso/ticket.ts';
import { randomBytes } from '#kernel/crypto/random.ts';

const clock = { nowMs: () => nowMs };
let nowMs = 1_800_000_000_000;
const tickets = createSsoTickets([randomBytes(32)], clock);
const BEGUN = { purpose: 'prove', holder: 'acc_1', next: '/ops/wallet?app=a&user=b' } as const;

test('CP-13 a ticket returns its contents, with three values hidden in the cookie', () => {
  const { cookie, ticket } = tickets.issue(BEGUN);
  assert.deepEqual(tickets.read(cookie), ticket);
  assert.equal(ticket.next, BEGUN.next);
  const values = [ticket.state, ticket.nonce, ticket.verifier];
  assert.equal(new Set(values).size, 3);
  for (const value of values) assert.ok(/^[\w-]{43}$/.test(value) && !cookie.includes(value));
});

test('CP-13 an altered, foreign or ten-minute-old ticket is refused', () => {
  const { cookie } = tickets.issue(BEGUN);
  const parts = cookie.split('.');
  for (const [index, part] of ['A'.repeat(43), '1800000000001', 'link', 'acc_2', 'L2E', 'A'.repeat(43)].entries()) {
    assert.equal(tickets.read(parts.with(index, part).join('.')), undefined, `part ${index}`);
  }
  assert.equal(tickets.read(undefined), undefined);
  assert.equal(createSsoTickets([randomBytes(32)], clock).read(cookie), undefined);
  nowMs += 10 * 60_000 - 1;
  assert.ok(tickets.read(cookie));
  nowMs += 1;
  assert.equal(tickets.read(cookie), undefined);
});
