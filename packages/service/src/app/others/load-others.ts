import { setImmediate } from 'node:timers/promises';
import type * as otherRoutes from '#app/others/other-routes.ts';

/** Parts of it, so that a call meanwhile waits for one of them: Node loads whatever one import needs in one go. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('#http/planes/planes.ts'),
  () => import('#app/reports/reports.ts'),
  () => import('#app/others/developers.ts'),
  () => import('#app/others/people.ts'),
  () => import('#web/account/pages.ts'),
  () => import('#web/console/pages.ts'),
  () => import('#web/ops/pages.ts'),
  () => import('#app/others/operator-plane.ts'),
  () => import('#web/pages.ts'),
];

/** Loads the code of planes and pages: almost half of all, which a process that only takes calls never needs. */
export async function loadOtherRoutes(): Promise<typeof otherRoutes> {
  for (const load of PARTS) {
    await load();
    await setImmediate();
  }
  return await import('#app/others/other-routes.ts');
}
