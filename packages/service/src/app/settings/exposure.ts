import type { SettingsReader } from '#app/environment/settings-reader.ts';

export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '[::1]', 'localhost']);

/**
 * Checks who reaches the service. A development service has known demo accounts, a mailbox that anybody can read and test cards that pay,
 * so it listens on this machine only unless the settings allow more. True if it runs in a container whose port is published on
 * the loopback of the machine around it.
 */
export function readExposure(settings: SettingsReader, environment: string, host: string): boolean {
  const allowed = settings.choice('PURSER_ALLOW_PUBLIC_DEVELOPMENT', ['0', '1', 'container'], '0');
  if (environment === 'development' && !LOOPBACK.has(host) && allowed === '0') {
    settings.complain(
      `HOST ${host} would make a development service reachable from other machines. Set PURSER_ENV=production, ` +
        'or PURSER_ALLOW_PUBLIC_DEVELOPMENT=1 if that is what you want.',
    );
  }
  return allowed === 'container';
}
