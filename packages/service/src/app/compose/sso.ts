import { normalisedEmail } from '#developers/accounts/email.ts';
import type { OperatorRules } from '#developers/operators/role.ts';
import { createSsoClient } from '#developers/sso/client.ts';
import type { SsoOptions } from '#developers/sso/sso.ts';
import type { Config } from '#app/settings/config.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';

/** Composes the sign-in through the provider of the settings. Returns undefined when they name none. */
export function composeSso(
  config: Config,
  of: { readonly clock: Clock; readonly log: Log },
): Pick<SsoOptions, 'client' | 'settings' | 'except'> | undefined {
  const { sso: settings, publicUrl } = config;
  if (settings === undefined) return undefined;
  const callback = `${publicUrl}/sign-in/sso/callback`;
  return { settings, except: operatorOf(config), client: createSsoClient({ settings, callback, ...of }) };
}

/** How strict the service is with its operators. */
export function operatorRulesOf(config: Config): OperatorRules {
  const { sso, environment } = config;
  const onlySso = sso?.isOnly === true ? { name: sso.name, except: operatorOf(config) } : undefined;
  return { isSecondFactorRequired: environment === 'production', onlySso };
}

function operatorOf({ operator }: Config): string | undefined {
  return operator && normalisedEmail(operator.email);
}
