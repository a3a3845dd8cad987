import type { TestTokens } from '#developers/teams/test-token.ts';
import type { AppUsers } from '#ledger/overview/app-users.ts';
import type { ReadSessions } from '#kernel/calls/session-page.ts';
import type { SandboxWallets } from '#sandbox/wallets/sandbox-wallets.ts';
import type { TraceReader } from '#calls/traces/traces.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of users and test users act on besides. */
export interface UsersServices extends ConsoleServices {
  readonly appUsers: AppUsers;
  readonly sandboxWallets: SandboxWallets;
  readonly testTokens: TestTokens;
  readonly traces: TraceReader;
  /** What sessions of coding agents have cost users. Test users have theirs in `sandboxWallets`. */
  readonly usedSessions: ReadSessions;
}
