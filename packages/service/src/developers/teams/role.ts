import { type AppRole, isAtLeast } from '@purser/contract/access.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Refuses a member whose role is too low. It names both roles, so that they know what to ask an owner for. */
export function roleTooLow(role: AppRole, least: AppRole): Refusal<'FORBIDDEN'> | undefined {
  if (isAtLeast(role, least)) return undefined;
  return refuse('FORBIDDEN', `Your role in this app is \`${role}\`. This needs \`${least}\`: ask an owner of the app.`);
}
