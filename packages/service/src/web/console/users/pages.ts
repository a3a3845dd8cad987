import type { UsersServices } from '#web/console/users/services.ts';
import { sandboxPage } from '#web/console/users/sandbox-page.ts';
import { sessionsPage } from '#web/console/users/sessions-page.ts';
import { userPage } from '#web/console/users/user-page.ts';
import { usersPage } from '#web/console/users/users-page.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The users of an app, and its test users. */
export function consoleUsersPages(services: UsersServices): Readonly<Record<string, PageMethods>> {
  return {
    '/console/:part/users': usersPage(services),
    '/console/:part/user': userPage(services),
    '/console/:part/sessions': sessionsPage(services),
    '/console/:part/sandbox': sandboxPage(services),
  };
}
