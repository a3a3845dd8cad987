import type { Pool } from 'pg';
import { OPERATOR_ACCESS } from '../../../packages/contract/src/operator-access.ts';
import type { Person } from '../../support/control.ts';
import { operatorBrowser } from '../../support/page.ts';
import type { TestService } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';

/** One of everything that a page can be about. */
interface OneOfEach {
  readonly app: string;
  readonly user: string;
  readonly account: string;
  readonly call: string;
  readonly event: string;
  readonly key: string;
  readonly payment: string;
  readonly paymentCase: string;
  readonly pending: string;
  readonly draft: string;
  readonly email: string;
}

/** Every page for operators, with what its address needs. `isPreview`: it shows at once what an act will do, mostly by running it (decision 72). */
export function opsPages(of: OneOfEach): readonly { readonly page: string; readonly isPreview: boolean }[] {
  const wallet = `?app=${of.app}&user=${of.user}`;
  const queries: Readonly<Record<string, string>> = {
    '/ops/find': `?q=${of.call}`,
    '/ops/call': `?id=${of.call}`,
    '/ops/event': `?id=${of.event}`,
    '/ops/key': `?id=${of.key}`,
    '/ops/app': `?id=${of.app}`,
    '/ops/account': `?id=${of.account}`,
    '/ops/payment': `?id=${of.payment}`,
    '/ops/payment-case': `?id=${of.payment}&case=${of.paymentCase}&act=pay_back`,
    '/ops/payments': '?waits=true',
    '/ops/pending': `?id=${of.pending}`,
    '/ops/model': '?id=acme.large-1',
    '/ops/model-edit': '?id=acme.large-1',
    '/ops/price': '?id=acme.large-1',
    '/ops/provider': '?name=upstream',
    '/ops/catalogue-draft': `?id=${of.draft}`,
    '/ops/person': `?email=${of.email}`,
    '/ops/person-export': `?email=${of.email}`,
    '/ops/person-delete': `?email=${of.email}`,
    '/ops/person-move': `?email=${of.email}`,
    '/ops/wallet': wallet,
    '/ops/wallet-open': `?app=${of.app}`,
    '/ops/wallet-credit': wallet,
    '/ops/wallet-refund': wallet,
    '/ops/wallet-clawback': wallet,
    '/ops/wallet-reinstate': wallet,
    '/ops/wallet-release': wallet,
  };
  const previews = new Set(['/ops/wallet-reinstate', '/ops/wallet-release', '/ops/person-delete']);
  return Object.keys(OPERATOR_ACCESS)
    .filter((name) => /^GET .ops/.test(name))
    .map((name) => name.slice('GET '.length))
    .map((path) => ({ page: path + (queries[path] ?? ''), isPreview: previews.has(path) }));
}

/** An act that waits for a second person. */
export async function seedPending(
  db: Pick<Pool, 'query'>,
  { subject, accountId }: { readonly subject: string; readonly accountId: string },
): Promise<void> {
  await sql(db)`
    insert into operator.pending_acts (pending_id, action, subject, key, act, amount_micros, reason, requested_by,
      requested_email, expires_at)
    values ('pnd_waits', 'wallet.credit', ${subject}, 'k', '{}', 1, 'x', ${accountId}, 'e1.x', now() + interval '1 day')`;
}

/** Sends a whole catalogue, and returns its draft, which is not applied. */
export async function sendDraft(service: TestService, person: Person): Promise<string> {
  const file = Buffer.from(JSON.stringify(await person.get(200, 'GET', '/operator/catalogue')));
  const sent = await operatorBrowser(service, person).sendFile('/ops/catalogue-import', { kind: 'catalogue' }, file);
  return new URL(sent.headers.get('location') ?? '', service.url).searchParams.get('id') ?? '';
}
