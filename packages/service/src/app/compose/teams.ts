import { createTeams, type Teams } from '#developers/teams/team.ts';
import type { Config } from '#app/settings/config.ts';
import type { SendMail } from '#app/compose/mail.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { createAttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Throttle } from '#limits/throttle.ts';
import { invitationMail } from '#mail/team-letters.ts';

interface TeamsOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly pool: Pool;
  readonly throttle: Throttle;
  readonly sendMail: SendMail;
}

/** The members of apps, with the mails that invite them. */
export function composeTeams({ config, keys, pool, throttle, sendMail }: TeamsOptions): Teams {
  return createTeams({
    pool,
    attempts: createAttemptLimiter(throttle, keys.kept('account-tries')),
    sendInvitation: (tx, email, invitation) => sendMail(email, invitationMail({ ...config, ...invitation }), tx),
  });
}
