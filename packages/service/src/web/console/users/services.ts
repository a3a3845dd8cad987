import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the pages of users and test users act on besides. Test users have their sessions in `sandboxWallets`. */
export interface UsersServices
  extends ConsoleServices,
    Pick<ControlPlane, 'appUsers' | 'sandboxWallets' | 'testTokens' | 'traces' | 'usedSessions'> {}
