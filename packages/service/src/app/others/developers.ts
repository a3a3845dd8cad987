import { type Accounts, createAccounts } from '#developers/account.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import { createOwnApps } from '#developers/app.ts';
import { createLogos } from '#developers/apps/logo.ts';
import { createPlaygroundKeys, type PlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { OperatorRules } from '#developers/operators/role.ts';
import { createSessions } from '#developers/sessions/session.ts';
import { createSsoClient } from '#developers/sso/client.ts';
import type { SsoOptions } from '#developers/sso/sso.ts';
import { createListenTokens } from '#developers/teams/listen-token.ts';
import { createTeams } from '#developers/teams/team.ts';
import { createTestTokens } from '#developers/teams/test-token.ts';
import type { ApiKeys } from '#app/compose/api-keys.ts';
import type { Mail } from '#app/compose/mail.ts';
import type { Ground } from '#app/process/ground.ts';
import type { Config } from '#app/settings/config.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { createAttemptLimiter } from '#limits/attempt-limiter.ts';
import type { Throttle } from '#limits/throttle.ts';
import { enrolmentMail, verifyMail } from '#mail/account-letters.ts';
import { resetMail } from '#mail/letters.ts';
import { invitationMail } from '#mail/team-letters.ts';

interface DeveloperNeeds {
  readonly apiKeys: ApiKeys;
  readonly catalogue: Pick<Catalogue, 'find'>;
  readonly throttle: Throttle;
  readonly mail: Mail;
}

/** App owners and operators: how they sign in, and what is theirs. */
export interface Developers
  extends Pick<ControlPlane, 'accounts' | 'sessions' | 'apps' | 'teams' | 'logos' | 'listenTokens' | 'testTokens'> {
  /** How strict the service is with its operators. */
  readonly rules: OperatorRules;
  readonly playgroundKeys: PlaygroundKeys;
}

export function openDevelopers(ground: Ground, { apiKeys, catalogue, throttle, mail }: DeveloperNeeds): Developers {
  const { keys, clock } = ground;
  const pool = ground.pools.planes;
  const isModel = (name: string): boolean => catalogue.find(name)?.isServed === true;
  return {
    accounts: openAccounts(ground, throttle, mail),
    sessions: createSessions(pool),
    rules: operatorRulesOf(ground.config),
    apps: createOwnApps({ pool, refresh: apiKeys.refresh, clock, isModel }),
    teams: createTeams({
      pool,
      attempts: createAttemptLimiter(throttle, keys.kept('account-tries')),
      sendInvitation: (tx, email, said) => mail.send(email, invitationMail({ ...mail.letterhead, ...said }), tx),
    }),
    logos: createLogos(pool),
    listenTokens: createListenTokens(pool),
    testTokens: createTestTokens(pool),
    playgroundKeys: createPlaygroundKeys(pool, apiKeys.makeSingleUse),
  };
}

/** Accounts, with the mails that they send. */
function openAccounts(ground: Ground, throttle: Throttle, { send, sendNews, letterhead, isRead }: Mail): Accounts {
  const { config, keys, pools, clock } = ground;
  return createAccounts({
    publicUrl: config.publicUrl,
    operatorName: config.operatorName,
    keys,
    pool: pools.planes,
    throttle,
    clock,
    sendReset: (email, token) => send(email, resetMail({ ...letterhead, token })),
    sendVerification: (tx, email, token) => send(email, verifyMail({ ...letterhead, token }), tx),
    sendNews,
    isSecondFactorRequired: config.environment === 'production',
    sendEnrolment: isRead ? (tx, email, code) => send(email, enrolmentMail({ ...letterhead, code }), tx) : undefined,
    sso: openSso(ground),
  });
}

/** The sign-in through the provider of the settings. Undefined when they name none. */
function openSso({ config, clock, log }: Ground): Pick<SsoOptions, 'client' | 'settings' | 'except'> | undefined {
  const { sso: settings, publicUrl } = config;
  if (settings === undefined) return undefined;
  const callback = `${publicUrl}/sign-in/sso/callback`;
  return { settings, except: operatorOf(config), client: createSsoClient({ settings, callback, clock, log }) };
}

function operatorRulesOf(config: Config): OperatorRules {
  const { sso, environment } = config;
  const onlySso = sso?.isOnly === true ? { name: sso.name, except: operatorOf(config) } : undefined;
  return { isSecondFactorRequired: environment === 'production', onlySso };
}

function operatorOf({ operator }: Config): string | undefined {
  return operator && normalisedEmail(operator.email);
}
