import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { Frame } from '#web/frame/page-shell.ts';

/** What every page of the console acts on. A room adds what it needs besides. */
export interface ConsoleServices extends Pick<ControlPlane, 'apps' | 'publicUrl' | 'currency' | 'clock' | 'addressOf'> {
  readonly frame: Frame;
}
