import type { TestDatabase } from './database.ts';
import type { TestApp } from './service.ts';
import { sql, sqlRow } from './sql.ts';

export interface SandboxFigures {
  readonly balance: number;
  readonly held: number;
  readonly openStreams: number;
  readonly requests: number;
  readonly spentThisMonth: number;
}

/** Creates a test user's sandbox wallet, as a reset by the app's owner would leave it. */
export async function makeSandboxWallet(
  { owner }: TestDatabase,
  { appId }: Pick<TestApp, 'appId'>,
  wallet: { readonly user: string; readonly balance: number; readonly cap?: number },
): Promise<void> {
  await sql(owner)`insert into sandbox.wallets (app_id, user_id, balance_micros, cap_micros)
    values (${appId}, ${wallet.user}, ${wallet.balance}, ${wallet.cap ?? null})`;
}

/** The content of a sandbox wallet, or undefined if the user has none. */
export async function readSandboxWallet(
  { owner }: TestDatabase,
  { appId }: Pick<TestApp, 'appId'>,
  user: string,
): Promise<SandboxFigures | undefined> {
  return sqlRow<SandboxFigures>(owner)`
    select balance_micros::float8 as balance, held_micros::float8 as held, open_streams as "openStreams",
      requests::float8 as requests, cap_spent_micros::float8 as "spentThisMonth"
    from sandbox.wallets where app_id = ${appId} and user_id = ${user}`;
}
