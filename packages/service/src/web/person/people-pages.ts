import type { AppProfiles } from '#accounts/app-profile.ts';
import type { Connections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { CodeSignIns } from '#identities/code.ts';
import type { Passkeys } from '#identities/passkeys.ts';
import type { PersonSessions } from '#identities/session.ts';
import type { WalletMovements } from '#ledger/wallet/movements.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Checkouts } from '#payments/checkout.ts';
import type { Refunds } from '#payments/refund.ts';
import type { TestBank } from '#payments/test-processor/test-bank.ts';
import type { AppUsage } from '#usage/report.ts';
import type { UsageReader } from '#usage/usage.ts';

/** What the pages of people who own wallets need. */
export interface PeoplePages {
  readonly sessions: PersonSessions;
  readonly codes: CodeSignIns;
  readonly passkeys: Passkeys;
  readonly connections: Connections;
  readonly links: Links;
  readonly apps: AppProfiles;
  readonly movements: WalletMovements;
  readonly usage: Pick<UsageReader, 'ofCalls'>;
  readonly receipts: Pick<AppUsage, 'receipt'>;
  /** Undefined: nobody can pay. */
  readonly checkouts: Checkouts | undefined;
  /** There wherever checkouts are. */
  readonly refunds: Refunds | undefined;
  /** Undefined: payments are not the test processor's. */
  readonly testBank: TestBank | undefined;
  readonly attempts: AttemptLimiter;
  readonly cookies: Cookies;
  readonly addressOf: CallerAddress;
  /** Of every wallet. */
  readonly currency: string;
  /** As the pages call whoever runs the service. */
  readonly operatorName: string;
  /** Where people ask whoever runs it; undefined where the settings say nowhere. */
  readonly supportEmail: string | undefined;
  /** Payments are the test processor's (ON-03). */
  readonly isTestMoney: boolean;
}
