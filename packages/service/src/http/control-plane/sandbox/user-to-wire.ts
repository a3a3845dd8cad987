import { type resetSandboxSchema, sandboxUserSchema } from '@purser/contract/control.ts';
import type { z } from 'zod';
import { sentAmount } from '#http/requests/sent.ts';
import { wireOf } from '#http/serializers/wire-of.ts';
import { micros } from '#kernel/values/micros.ts';
import type { SandboxWallet } from '#sandbox/wallets/sandbox-wallets.ts';

/** A fake wallet, with the field names of a real one, so that tests can share code with production. */
export function sandboxUserToWire(wallet: SandboxWallet, currency: string) {
  const { held: reserved, cap: spendCap } = wallet;
  const available = micros(wallet.balance - reserved);
  return wireOf(sandboxUserSchema, { ...wallet, reserved, available, currency, spendCap });
}

/** What a body sets. A missing field stays missing: the reset then uses its default (SB-05). */
export function resetOf({ balanceMicros, spendCapMicros, suspended }: z.infer<typeof resetSandboxSchema>) {
  return { balance: sentAmount(balanceMicros), cap: sentAmount(spendCapMicros), isSuspended: suspended };
}
