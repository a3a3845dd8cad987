import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of calls act on. */
export interface CallsServices extends ConsoleServices, Pick<ControlPlane, 'traces' | 'appUsage'> {}
