import type { ActingRequest, PageMethods } from '#web/frame/page.ts';
import type { Frame } from '#web/frame/page-shell.ts';
import type { AppProfiles } from '#developers/apps/profile.ts';
import type { BoundKeys } from '#developers/keys/bound-keys.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { CapAlerts } from '#connections/alerts.ts';
import type { Connections } from '#connections/connection.ts';
import type { Links } from '#connections/link.ts';
import type { OtherCells } from '#http/cells/wallets/other-cells.ts';
import type { ReadBudgets } from '#http/planes/key-budgets.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import type { CodeSignIns } from '#people/email-code.ts';
import type { HandOvers } from '#people/hand-over.ts';
import type { Passkeys } from '#people/passkeys.ts';
import type { Person, PersonSessions } from '#people/session.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { WalletMovements } from '#ledger/history/movements.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Checkouts } from '#payments/checkouts.ts';
import type { Refunds } from '#payments/refunds/refunds.ts';
import type { TestBank } from '#payments/test-processor/test-bank.ts';
import type { Privacy } from '#privacy/privacy.ts';
import type { UsageReader } from '#calls/usage/usage.ts';

/** Everything that the pages of wallet owners act on. `app/others/people.ts` puts it together. */
export interface WalletOwnerServices {
  /** Who is signed in, by the cookie `person`. */
  readonly sessions: PersonSessions;
  /** One-time codes by mail, and signing in with one. */
  readonly codes: CodeSignIns;
  /** The passkeys of people. They are not possible if the service is reached by an IP address: see `isPossible`. */
  readonly passkeys: Passkeys;
  /** Which apps may spend for whom, with cap and pause. */
  readonly connections: Connections;
  /** Mails about shares of the cap. */
  readonly alerts: CapAlerts;
  /**
   * The other cells, in which people may have wallets too, and go there without a second sign-in. It is undefined if
   * there are none.
   */
  readonly otherCells: (OtherCells & { readonly handOvers: HandOvers }) | undefined;
  /** Everything that is kept about a person, as a file, and the end of it. */
  readonly privacy: Privacy;
  /** Reads signed links, and makes new ones. */
  readonly links: Links;
  /** Names, logos and allow-lists of apps: what people may see of them. */
  readonly apps: AppProfiles;
  /** Movements of a wallet, a page at a time, also of cells in which it was before. */
  readonly movements: WalletMovements;
  /** Reads the model and tokens of the calls among movements, and one call in full: usage, price and outcome. */
  readonly usage: Pick<UsageReader, 'ofCalls' | 'receipt' | 'sessions'>;
  /** The checkouts. It is undefined if payments are not set up, so that nobody can pay. */
  readonly checkouts: Checkouts | undefined;
  /** The refunds. It is defined whenever `checkouts` is. */
  readonly refunds: Refunds | undefined;
  /** The bank for tests. It is undefined if payments go to a real processor. */
  readonly testBank: TestBank | undefined;
  /** How often somebody may ask for a payment or a refund. */
  readonly attempts: AttemptLimiter;
  /** The live keys of one user. `elsewhere`: keys are changed in another cell. */
  readonly boundKeys: Pick<BoundKeys, 'list'> & {
    readonly stop: (...given: Parameters<BoundKeys['stop']>) => Promise<'stopped' | 'none' | 'elsewhere'>;
  };
  readonly readBudgets: ReadBudgets;
  readonly whenEverywhere: WhenEverywhere;
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
  /** Where agents reach this service, without a slash at the end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly cookies: Cookies;
  /** Where a request comes from, behind the proxies of the settings. Tries are counted by it. */
  readonly addressOf: CallerAddress;
  /** The currency of new wallets. */
  readonly currency: string;
  /** The name that pages use for the operator of this service. */
  readonly operatorName: string;
  /** Where people can ask for help. Undefined if the settings name no address. */
  readonly supportEmail: string | undefined;
  /** Whether there is a page about how the service runs. */
  readonly statusPage: Required<Frame>['statusPage'];
  /** Payments go to the test processor (ON-03). */
  readonly isTestMoney: boolean;
}

export type WalletOwnerRequest = ActingRequest<Person, WalletOwnerServices>;
export type WalletOwnerMethods = PageMethods<Person, WalletOwnerRequest>;
