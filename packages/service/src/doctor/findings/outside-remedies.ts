import type { OUTSIDE_CHECKS } from '@purser/contract/doctor.ts';

/** Why each check that reaches out matters, and what to do if it is not good. */
export const OUTSIDE_REMEDIES: Readonly<
  Record<(typeof OUTSIDE_CHECKS)[number], { readonly why: string; readonly remedy: string }>
> = {
  'public-address': {
    why: 'Apps, people and the payment processor call this address.',
    remedy:
      'Check the name, the firewall and the proxy. Some networks do not let a machine reach its own public address: if so, try it from elsewhere.',
  },
  'same-database': {
    why: 'Two copies of the books would both take calls and payments.',
    remedy: 'Stop one of the two services before anything else. Compare DATABASE_URL and PURSER_DATA_DIR of both.',
  },
  forwarding: {
    why: 'Limits, sign-in pauses and the addresses of the audit trail count callers by what the proxies say.',
    remedy: 'Set PURSER_PROXY_HOPS to the number of proxies that add to `x-forwarded-for`.',
  },
  certificate: {
    why: 'Clients refuse an address whose certificate does not match or has expired.',
    remedy: 'Renew the certificate, with all certificates of its chain, and reload the proxy.',
  },
  roles: {
    why: 'Calls run as roles with few rights and short limits. With more, one mistake could change the books, or one lock stop every call.',
    remedy:
      'Connect to the server directly, or through a pooler in session mode that passes on `options`. Take back rights that were granted by hand.',
  },
  'disk-writes': {
    why: 'Settlements are kept here while the database is away, so that no charge is lost.',
    remedy: 'Make PURSER_DATA_DIR a directory that belongs to the user of the service, on a disk with room.',
  },
  processor: {
    why: 'Nobody can pay, payments are not found, and refunds wait.',
    remedy:
      'Check PURSER_STRIPE_SECRET_KEY, its rights in the dashboard of the processor, and the way out of this machine.',
  },
  providers: {
    why: 'Calls to their models fail, or go to the next provider.',
    remedy: 'Check the address in the catalogue, the name service, the firewall, and HTTPS_PROXY and NO_PROXY.',
  },
  'mail-server': {
    why: 'People cannot sign in to wallets, reset a password or learn about a refund.',
    remedy: 'Check host, port, user and password of SMTP_URL, and that the firewall lets this machine send mail.',
  },
  'other-clocks': {
    why: 'Webhooks of the payment processor are refused when their date is five minutes off, and signatures of providers too.',
    remedy: 'Run a time service such as chrony on this machine.',
  },
  'secret-strength': {
    why: 'Anybody who guesses it can make links and sign-ins, and open the keys of a stolen backup.',
    remedy: 'Make one with `openssl rand -base64 48`, and change it as docs/guides/operator/secret.md says.',
  },
};
