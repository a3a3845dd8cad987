import assert from 'node:assert/strict';
import type { Reply } from '../../support/client.ts';
import type { Person } from '../../support/control.ts';

/** An act on a wallet, as a preview takes it. */
export interface Wanted {
  readonly act: 'open' | 'credit' | 'refund' | 'clawback' | 'reinstate' | 'release';
  readonly amountMicros?: number;
  readonly spendCapMicros?: number;
  readonly paymentId?: string;
  readonly writeOff?: boolean;
}

interface Details {
  readonly wallet: Readonly<Record<string, unknown>>;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

let keys = 0;

/**
 * Previews acts, does them, and asserts that each did exactly what its preview said: the wallet before and after, and every
 * entry of the ledger; or the refusal. Returns how each ended.
 */
export function previewedActs(operator: Person, appId: string) {
  /** The wallets as the latest act left them. */
  const known = new Map<string, Details | undefined>();
  const base = `/operator/apps/${appId}/wallets`;

  async function details(user: string): Promise<Details | undefined> {
    const reply = await operator.ask('GET', `${base}/${user}`);
    return reply.status === 404 ? undefined : (reply.body as unknown as Details);
  }

  async function act(user: string, { act: name, ...fields }: Wanted, idempotencyKey: string): Promise<Reply> {
    const reason = 'as agreed';
    switch (name) {
      case 'open': {
        const { amountMicros: creditMicros, ...others } = fields;
        return operator.ask('POST', base, { userId: user, creditMicros, ...others, idempotencyKey, reason });
      }
      case 'reinstate':
        return operator.ask('POST', `${base}/${user}/reinstate`, { ...fields, reason });
      case 'release':
        return operator.ask('POST', `${base}/${user}/release`, { reason });
      case 'credit':
      case 'refund':
      case 'clawback':
        return operator.ask('POST', `${base}/${user}/${name}`, { ...fields, reason, idempotencyKey });
    }
  }

  return async (user: string, wanted: Wanted, key = `previewed-${(keys += 1)}`): Promise<string> => {
    const what = `${JSON.stringify(wanted)} of ${user}`;
    const before = known.has(user) ? known.get(user) : await details(user);
    const preview = await operator.ask('POST', `${base}/${user}/preview`, { ...wanted, idempotencyKey: key });
    const meanwhile = await details(user);
    assert.deepEqual(meanwhile, before, `the preview of ${what} changed something`);
    const done = await act(user, wanted, key);
    known.set(user, meanwhile);
    if (preview.status !== 200) {
      assert.deepEqual(refusalOf(preview), refusalOf(done), what);
      return String(preview.error['code']);
    }
    assert.ok([200, 201].includes(done.status), `${what}: ${done.text}`);
    const after = await details(user);
    known.set(user, after);
    const written = (after?.entries ?? []).slice(0, (after?.entries.length ?? 0) - (before?.entries.length ?? 0));
    assert.deepEqual(
      preview.body,
      {
        changes: preview.body['changes'],
        needsSecondPerson: false,
        before: before?.wallet ?? null,
        after: after?.wallet,
        entries: written.toReversed().map(({ cause: _cause, at: _at, ...entry }) => entry),
      },
      what,
    );
    assert.deepEqual(done.body, preview.body['after'], what);
    return preview.body['changes'] === true ? 'done' : 'nothing';
  };
}

function refusalOf({ status, error: { code, message, param } }: Reply) {
  return { status, code, message, param };
}
