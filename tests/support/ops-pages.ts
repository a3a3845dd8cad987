import { OPERATOR_ACCESS } from '../../packages/contract/src/operator-access.ts';

/** One of everything that a page can be about. */
interface OneOfEach {
  readonly app: string;
  readonly user: string;
  readonly account: string;
  readonly call: string;
  readonly payment: string;
  readonly paymentCase: string;
  readonly pending: string;
  readonly draft: string;
  readonly email: string;
}

/** Every page for operators, with what its address needs. `isPreview`: it runs an act and rolls it back (decision 67). */
export function opsPages(of: OneOfEach): readonly { readonly page: string; readonly isPreview: boolean }[] {
  const wallet = `?app=${of.app}&user=${of.user}`;
  const queries: Readonly<Record<string, string>> = {
    '/ops/find': `?q=${of.call}`,
    '/ops/call': `?id=${of.call}`,
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
    '/ops/person-move': `?email=${of.email}`,
    '/ops/wallet': wallet,
    '/ops/wallet-open': `?app=${of.app}`,
    '/ops/wallet-credit': wallet,
    '/ops/wallet-refund': wallet,
    '/ops/wallet-clawback': wallet,
    '/ops/wallet-reinstate': wallet,
    '/ops/wallet-release': wallet,
  };
  const previews = new Set(['/ops/wallet-reinstate', '/ops/wallet-release']);
  return Object.keys(OPERATOR_ACCESS)
    .filter((name) => /^GET .ops/.test(name))
    .map((name) => name.slice('GET '.length))
    .map((path) => ({ page: path + (queries[path] ?? ''), isPreview: previews.has(path) }));
}
