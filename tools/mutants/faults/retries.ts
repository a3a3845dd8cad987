import type { Mutant } from '../mutant.ts';
import {
  abandoning,
  admission,
  attemptsOfCalls,
  beginDrains,
  choosingKeys,
  digests,
  disconnecting,
  failure,
  findAnswer,
  inFile,
  joining,
  keeping,
  keptAnswers,
  keptKeys,
  landing,
  plainCall,
  rejecting,
  rejections,
  reserve,
  retrying,
  sandboxHolds,
  sandboxing,
  sandboxLanding,
  settle,
  starting,
  stream,
  telling,
  validation,
} from './places.ts';

const SOURCE = 'packages/service/src';
const earlierCall = inFile(`${SOURCE}/db/holds/earlier_call.sql`);

const LEFT = abandoning('CC-14 by key, a repeat gets what a drained stream came to');
const JOINED = 'CC-14 a joining key repeats an answer only for an equal body';

const EXPIRY_IN_FIND = findAnswer(
  'where a.call_id = p_call and a.expires_at > clock_timestamp()',
  'where a.call_id = p_call',
);

const RESET = 'SB-05 CC-25 a reset drops a test user’s kept answers';

/** Faults in what retries get, and what they pay. */
export const RETRY_FAULTS: readonly Mutant[] = [
  {
    id: 'settlement-ends-what-a-retry-waits-for',
    clause: 'CC-14',
    edits: [
      settle(
        'where h.call_id = any (calls) and not (h.is_joined and h.call_id = any (unkept))',
        'where h.call_id = any (calls)',
      ),
    ],
    killer: retrying('CC-14 a marked retry joins its attempt on another gateway'),
  },
  {
    id: 'attempts-of-one-batch-unseen',
    clause: 'CC-14',
    edits: [earlierCall('where b.key_digest = p_retry.key_digest', 'where false')],
    killer: joining('CC-14 of equal calls in a batch, the first holds'),
  },
  {
    id: 'attempt-of-another-wallet-joined',
    clause: 'CC-14',
    edits: [
      earlierCall(
        'from money.holds h where h.key_digest = p_retry.key_digest and h.wallet_id = p_wallet',
        'from money.holds h where h.key_digest = p_retry.key_digest',
      ),
    ],
    killer: joining('CC-14 an idempotency key belongs to one wallet'),
  },
  {
    id: 'uncharged-answer-replayed',
    clause: 'CC-14',
    edits: [
      earlierCall('(a.charged_micros is not null -- In', '(true -- In'),
      findAnswer(
        `coalesce(c.charged_micros, a.charged_micros)\n  from idempotency.kept_answers a`,
        'coalesce(c.charged_micros, a.charged_micros, 0)\n  from idempotency.kept_answers a',
      ),
      findAnswer('\n    and coalesce(c.charged_micros, a.charged_micros) is not null', ''),
    ],
    killer: keeping('CC-14 live: a retry after a kill is charged once'),
  },
  {
    id: 'answer-replayed-for-ever',
    clause: 'CC-25',
    edits: [
      earlierCall(
        'where a.key_digest = p_retry.key_digest and a.expires_at > clock_timestamp()',
        'where a.key_digest = p_retry.key_digest',
      ),
      EXPIRY_IN_FIND,
    ],
    killer: keeping('CC-25 an answer is kept for five minutes and then removed'),
  },
  {
    id: 'other-body-replayed',
    clause: 'CC-25',
    edits: [earlierCall('case when e.body_digest <> p_retry.body_digest', 'case when false')],
    killer: retrying('CC-25 a key replays only its own user’s call'),
  },
  {
    id: 'suspended-wallet-gets-kept-answers',
    clause: 'CC-25',
    edits: [reserve('asked.joins and not wallet.is_suspended then', 'asked.joins then')],
    killer: retrying('CC-25 a suspended wallet gets no answer of an earlier call'),
  },
  {
    id: 'suspended-test-user-gets-kept-answers',
    clause: 'CC-25',
    edits: [reserve('asked.joins and not wallet.is_suspended then', 'asked.joins then')],
    killer: sandboxing(RESET),
  },
  {
    id: 'reset-keeps-answers',
    clause: 'SB-05',
    edits: [earlierCall(`coalesce(w.reset_at, '-infinity')`, `'-infinity'::timestamptz`)],
    killer: sandboxing(RESET),
  },
  {
    id: 'joined-call-charged-again',
    clause: 'CC-14',
    edits: [
      digests(
        'const always = { body, isKeyed: true, joins: true };',
        'const always = { body, isKeyed: true, joins: name !== undefined };',
      ),
    ],
    killer: choosingKeys(JOINED),
  },
  {
    id: 'joined-answer-outlives-its-window',
    clause: 'CC-14',
    edits: [digests('keptMs: joinSeconds * 1_000', 'keptMs: KEPT_MS')],
    killer: choosingKeys(JOINED),
  },
  {
    id: 'joined-answer-given-to-keys-that-do-not-join',
    clause: 'CC-14',
    edits: [digests("digestOf(call, ['joined', ...form], bytes)", 'body')],
    killer: choosingKeys(JOINED),
  },
  {
    id: 'bound-key-spends-for-another-user',
    clause: 'CP-08',
    edits: [admission('if (boundUser === null) return', 'if (boundUser === null || header !== undefined) return')],
    killer: choosingKeys('AU-03 CP-08 a bound key needs no `x-service-user` and serves only its user'),
  },
  {
    id: 'first-attempts-join',
    clause: 'CC-14',
    edits: [validation('Number(retryCount) > 0', 'Number(retryCount) >= 0')],
    killer: retrying('CC-14 equal calls that are not retries stay separate'),
  },
  {
    id: 'delivered-answer-kept',
    clause: 'CC-25',
    edits: [attemptsOfCalls('idempotencyKey.isKeyed || caller.gone.aborted', 'true')],
    killer: retrying('CC-25 a marked retry of a delivered answer runs anew'),
  },
  {
    id: 'answer-of-a-caller-who-left-not-kept',
    clause: 'CC-25',
    edits: [
      attemptsOfCalls('idempotencyKey.isKeyed || caller.gone.aborted', 'idempotencyKey.isKeyed'),
      attemptsOfCalls('isDelivered || answers.keep', 'true || answers.keep'),
    ],
    killer: keeping('CC-25 an answer is kept even if nobody waits for it'),
  },
  {
    id: 'key-shared-by-users',
    clause: 'CC-14',
    edits: [digests('[appId, mode, userId, ...use]', '[appId, mode, ...use]')],
    killer: telling('CC-14 a retry matches app, mode, user and key or body'),
  },
  {
    id: 'kept-answer-bound-to-nothing',
    clause: 'CC-25',
    edits: [
      keptAnswers('Buffer.concat([digest, body, Buffer.from(callId)])', 'Buffer.concat([digest, body].slice(2))'),
    ],
    killer: keeping('CC-25 a moved or changed answer cannot be opened'),
  },
  {
    id: 'joined-call-never-lands-from-disk',
    clause: 'CC-14',
    // Taken for charged: otherwise it would be left on disk, and another process would charge it.
    edits: [landing('landed.isJoined === true ? landAnyway() : landed', '({ ...landed, charged: settlement.charge })')],
    killer: keeping('CC-14 a joined call on a locked wallet is answered from disk'),
  },
  {
    id: 'joined-sandbox-call-never-lands',
    clause: 'CC-14',
    edits: [
      sandboxLanding('isJoined === true ? settling.submit({ ...settlement, isUnkept: false }) : undefined', 'isJoined'),
    ],
    killer: sandboxHolds('CC-14 a joined sandbox call ends once its answer is kept'),
  },
  {
    id: 'drained-stream-loses-its-key',
    clause: 'CC-14',
    edits: [beginDrains('clock_timestamp()\n', 'clock_timestamp(), key_digest = null, body_digest = null\n')],
    killer: LEFT,
  },
  {
    id: 'drained-stream-not-kept',
    clause: 'CC-14',
    edits: [stream('caller.gone.aborted && sent.text() === undefined', 'caller.gone.aborted')],
    killer: LEFT,
  },
  {
    id: 'drained-stream-kept-without-its-end',
    clause: 'CC-25',
    edits: [
      stream('  sent.add(frames);\n  return caller', '  if (!caller.gone.aborted) sent.add(frames);\n  return caller'),
      stream('    sent.add(frames);\n  }', '    if (!stream.caller.gone.aborted) sent.add(frames);\n  }'),
    ],
    killer: LEFT,
  },
  {
    id: 'rejection-not-remembered',
    clause: 'CC-15',
    edits: [
      failure(
        '  if (asking !== undefined && hold.plays === undefined) caller.rejections.note(lane.mode, asking, fault);\n',
        '',
      ),
    ],
    killer: rejecting('CC-15 a buffered request that the provider answers 400 reaches it once'),
  },
  {
    id: 'streamed-rejection-not-remembered',
    clause: 'CC-15',
    edits: [
      stream(
        '      if (hold.plays === undefined) caller.rejections.note(mode, { call: hold.call, asked }, told);\n',
        '',
      ),
    ],
    killer: rejecting('CC-15 a streamed request that the provider answers 400 reaches it once'),
  },
  {
    id: 'our-own-fault-remembered',
    clause: 'CC-15',
    edits: [rejections('new Set([400, 404, 422])', 'new Set([400, 401, 404, 422])')],
    killer: rejecting("CC-15 a provider's 401 is not remembered"),
  },
  {
    id: 'disconnected-user-gets-a-kept-answer',
    clause: 'CC-25',
    edits: [
      reserve(
        'elsif asked.joins and not wallet.is_suspended then',
        'elsif asked.joins and wallet.is_suspended is not true then',
      ),
    ],
    killer: disconnecting('CC-25 a disconnected user gets neither a kept answer nor a conflict'),
  },
  {
    id: 'disconnected-user-gets-a-remembered-rejection',
    clause: 'CC-15',
    edits: [
      plainCall(
        '  if (rejection !== undefined) return endFailed(lane, { hold, ending: FAILED, caller }, rejection);\n',
        '',
      ),
      plainCall(
        '  const first = await lane.place(call);',
        '  const again = caller.rejections.find(lane.mode, asking);\n  if (again !== undefined) throw again;\n  const first = await lane.place(call);',
      ),
    ],
    killer: disconnecting('CC-15 a remembered rejection is not given to a disconnected user'),
  },
  {
    id: 'second-secret-on-a-database',
    clause: 'OP-13',
    edits: [keptKeys('return rows.every(({ purpose }) => keys.has(purpose)) ? keys : undefined;', 'return keys;')],
    killer: starting('OP-13 two first starts agree on one secret'),
  },
];
