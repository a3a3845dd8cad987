import type { resetSandboxSchema } from '@purser/contract/control.ts';
import type { z } from 'zod';
import { type Micros, micros, microsToWire } from '#kernel/values/micros.ts';
import type { SandboxWallet } from '#sandbox/wallets/sandbox-wallets.ts';

/** A fake wallet, with the field names of a real one, so that tests can share code with production. */
export function sandboxUserToWire(wallet: SandboxWallet, currency: string) {
  const { userId, balance, held, cap, isSuspended, requests, tokens, nextOutcome } = wallet;
  return {
    userId,
    balanceMicros: microsToWire(balance),
    reservedMicros: microsToWire(held),
    availableMicros: microsToWire(micros(balance - held)),
    currency,
    requests,
    tokens,
    spendCapMicros: cap === undefined ? null : microsToWire(cap),
    suspended: isSuspended,
    nextOutcome: nextOutcome ?? null,
  };
}

/** What a body sets. A missing field stays missing: the reset then uses its default (SB-05). */
export function resetOf({ balanceMicros, spendCapMicros, suspended }: z.infer<typeof resetSandboxSchema>) {
  return { balance: microsOf(balanceMicros), cap: microsOf(spendCapMicros), isSuspended: suspended };
}

function microsOf(amount: number | undefined): Micros | undefined {
  return amount === undefined ? undefined : micros(BigInt(amount));
}
