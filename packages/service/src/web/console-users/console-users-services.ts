import type { TestTokens } from '#accounts/test-token.ts';
import type { AppUsers } from '#ledger/wallet/app-users.ts';
import type { ReadSessions } from '#kernel/session-page.ts';
import type { SandboxWallets } from '#sandbox/sandbox-wallet.ts';
import type { TraceReader } from '#traces/traces.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';

/** What the pages of users and test users act on besides. */
export interface UsersServices extends ConsoleServices {
  readonly appUsers: AppUsers;
  readonly sandboxWallets: SandboxWallets;
  readonly testTokens: TestTokens;
  readonly traces: TraceReader;
  /** What sessions of coding agents have cost users. Test users have theirs in `sandboxWallets`. */
  readonly usedSessions: ReadSessions;
}
