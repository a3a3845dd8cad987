import { createKeys, derivedKeptKeys, type Keys } from '../../packages/service/src/kernel/keys.ts';

/** The keys of a gateway with this secret, on a database from before keys were kept: so `startTestService` runs its gateways. */
export function keysOf(secret: string | Buffer): Keys {
  const bytes = Buffer.from(secret as string);
  return createKeys({ secret: bytes }, derivedKeptKeys(bytes));
}
