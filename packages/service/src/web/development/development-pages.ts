import type { Plane } from '#http/planes.ts';
import type { Mailbox } from '#mail/mailbox.ts';
import { addComponentGallery } from '#web/development/component-gallery.ts';
import { addMailboxPages } from '#web/development/mailbox.ts';
import { createOwnMachineCheck } from '#web/development/own-machine.ts';

interface DevelopmentOptions {
  readonly mailbox: Mailbox;
  /** Its host is one of the names that a browser may use for these pages. */
  readonly publicUrl: string;
}

/** The pages under `/dev`. A service in production must not call this: the mailbox shows codes and tokens. */
export function addDevelopmentPages(plane: Plane, { mailbox, publicUrl }: DevelopmentOptions): void {
  const assertOwnMachine = createOwnMachineCheck(publicUrl);
  addMailboxPages(plane, mailbox, assertOwnMachine);
  addComponentGallery(plane, assertOwnMachine);
}
