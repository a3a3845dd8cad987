import { createTeams, type Teams } from '#accounts/team.ts';
import type { Config } from '#app/config.ts';
import type { SendMail } from '#app/mail.ts';
import type { Pool } from '#db/pool.ts';
import type { Keys } from '#kernel/keys.ts';
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
