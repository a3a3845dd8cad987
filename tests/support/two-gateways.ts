// Two gateways on one database, like two processes of one service that share its secret. The books must be right at the end.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { catalogueAt } from './catalogue.ts';
import { completionBody, startScriptedUpstream, type UpstreamScript } from './scripted-upstream.ts';
import { startSecondGateway } from './second-gateway.ts';
import { startTestService } from './service.ts';
import { sqlValue } from './sql.ts';

export const SHARED_SECRET = { PURSER_SECRET: 'one secret for all processes of the service' };
export const USAGE = { prompt_tokens: 10, completion_tokens: 5 };

/** A plain completion with this text and the usage `USAGE`. */
export function saying(content: string): UpstreamScript {
  return { body: completionBody({ model: 'large-upstream', content, usage: USAGE }) };
}

/** This is called once by a test file, before its tests. */
export async function setTwoGateways() {
  const upstream = await startScriptedUpstream();
  const service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 30_000 }), SHARED_SECRET);
  const second = await startSecondGateway(service, SHARED_SECRET);
  after(async () => {
    const differences = await service.check();
    await second.close();
    await service.close();
    await upstream.close();
    assert.deepEqual(differences, []);
  });
  const app = await service.addApp();
  let users = 0;
  return {
    upstream,
    service,
    second,
    app,
    /** A user that no other test uses, with this balance. */
    newUser: async (amount: number) => {
      const user = `retrier-${(users += 1)}`;
      await service.fund(app, user, amount);
      return user;
    },
    /** How many answers of this user's charged calls are kept. */
    keptCount: async (user: string) => {
      const count = await sqlValue<number>(service)`select count(*)::int as count from idempotency.kept_answers a
        join usage.calls c using (call_id)
        join ledger.wallets w using (wallet_id) where w.user_id = ${user}`;
      return count ?? 0;
    },
  };
}
