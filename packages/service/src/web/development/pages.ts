import type { Plane } from '#http/planes/planes.ts';
import type { Mailbox } from '#mail/mailbox.ts';
import { addComponentGallery } from '#web/development/component-gallery.ts';
import { addMailboxPages } from '#web/development/mailbox.ts';
import type { Frame } from '#web/frame/page-shell.ts';
import { createOwnMachineCheck } from '#web/development/own-machine.ts';

/** The pages under `/dev`. A service in production must not call this: the mailbox shows codes and tokens. */
export function addDevelopmentPages(
  plane: Plane,
  mailbox: Mailbox,
  frame: Frame & { readonly isInContainer: boolean },
): void {
  const assertOwnMachine = createOwnMachineCheck(frame.isInContainer);
  addMailboxPages(plane, { mailbox, frame, assertOwnMachine });
  addComponentGallery(plane, assertOwnMachine);
}
