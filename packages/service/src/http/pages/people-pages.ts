import type { AppFaces } from '#accounts/app-face.ts';
import type { Connections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { Cookies } from '#http/pages/cookies.ts';
import type { PersonSessions } from '#identities/session.ts';
import type { Tries } from '#limits/tries.ts';
import type { Checkouts } from '#payments/checkout.ts';
import type { Refunds } from '#payments/refund.ts';

/** What the pages of people who own wallets need. */
export interface PeoplePages {
  readonly sessions: PersonSessions;
  readonly connections: Connections;
  readonly links: Links;
  readonly apps: AppFaces;
  readonly tries: Tries;
  readonly cookies: Cookies;
  readonly addressOf: CallerAddress;
  /** Undefined: nobody can pay. */
  readonly checkouts: Checkouts | undefined;
  /** There wherever checkouts are. */
  readonly refunds: Refunds | undefined;
  /** As the pages call whoever runs the service. */
  readonly operatorName: string;
  /** Payments are the test processor's (ON-03). */
  readonly isTestMoney: boolean;
}
