import { sql } from '../../support/sql.ts';
import type { TestService } from '../../support/service.ts';

/** What the sessions of a user have cost (CP-19): the agent, the wire, the calls and their charges. */
export function sessionsOf(service: TestService, user: string): Promise<readonly object[]> {
  return sql(service)`
    select s.client, n.wire, s.calls::int as calls, s.charged_micros::int as charged
    from usage.sessions s join ledger.wallets w using (wallet_id)
    cross join lateral (select distinct m.wire from usage.session_calls m where m.session_id = s.session_id) n
    where w.user_id = ${user} order by s.session_id`;
}
