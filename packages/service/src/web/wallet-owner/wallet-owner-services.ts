import type { AppFaces } from '#accounts/app-face.ts';
import type { Connections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { CodeSignIns } from '#identities/code.ts';
import type { Passkeys } from '#identities/passkeys.ts';
import type { PersonSessions } from '#identities/session.ts';
import type { WalletMovements } from '#ledger/wallet/movements.ts';
import type { Tries } from '#limits/tries.ts';
import type { Checkouts } from '#payments/checkout.ts';
import type { Refunds } from '#payments/refund.ts';
import type { TestBank } from '#payments/test-processor/test-bank.ts';
import type { AppUsage } from '#usage/report.ts';
import type { UsageReader } from '#usage/usage.ts';

/** Everything that the pages of wallet owners act on. `app/people.ts` puts it together. */
export interface WalletOwnerServices {
  readonly sessions: PersonSessions;
  readonly codes: CodeSignIns;
  readonly passkeys: Passkeys;
  readonly connections: Connections;
  readonly links: Links;
  readonly apps: AppFaces;
  readonly movements: WalletMovements;
  readonly usage: Pick<UsageReader, 'ofCalls'>;
  readonly receipts: Pick<AppUsage, 'receipt'>;
  /** Undefined: payments are not set up, so nobody can pay. */
  readonly checkouts: Checkouts | undefined;
  /** Defined whenever `checkouts` is. */
  readonly refunds: Refunds | undefined;
  /** Undefined: payments go to a real processor. */
  readonly testBank: TestBank | undefined;
  readonly tries: Tries;
  readonly cookies: Cookies;
  readonly addressOf: CallerAddress;
  /** The currency of new wallets. */
  readonly currency: string;
  /** The name that pages use for the operator of this service. */
  readonly operatorName: string;
  /** Where people can ask for help. Undefined: the settings name no address. */
  readonly supportEmail: string | undefined;
  /** Payments go to the test processor (ON-03). */
  readonly isTestMoney: boolean;
}
