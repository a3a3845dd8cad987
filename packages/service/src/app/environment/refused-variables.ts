import { nearestTo } from '#app/environment/similar-names.ts';
import type { SettingsReader } from '#app/environment/settings-reader.ts';

/** Settings that are read only beside others. A test compares this list and what is read with the operator's guide. */
const READ_SOMETIMES = [
  'PURSER_MAIL_FROM',
  'PURSER_OIDC_CLIENT_ID',
  'PURSER_OIDC_CLIENT_SECRET',
  'PURSER_OIDC_NAME',
  'PURSER_OIDC_ONLY',
  'PURSER_OIDC_REQUIRE',
  'PURSER_OIDC_ROLES',
  'PURSER_OIDC_ROLE_CLAIM',
  'PURSER_OIDC_SCOPES',
  'PURSER_STRIPE_API_BASE',
  'PURSER_STRIPE_WEBHOOK_SECRET',
  // Of commands, and of the processes that the service starts.
  'PURSER_LISTEN_TOKEN',
  'PURSER_SESSION_TOKEN',
  'PURSER_URL',
  'PURSER_WORKER_GROUND',
];
/** Variables that the guides keep ids, tokens and the demo's owner in, for the commands that a reader copies. */
const OF_GUIDES = /^PURSER_(?:[A-Z]+_TOKEN|[A-Z]+_KEY|[A-Z]+_ID|OWNER_EMAIL|OWNER_PASSWORD|WEBHOOK_SECRET)$/;

/** Values of the samples in the guides and in `deploy` that nobody can mean. A test compares them with the samples. */
export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'https://pay.example.com',
  'postgres://purser:password@db.example.com:5432/purser',
  'sk-...',
  'Example Pay',
  'help@example.com',
  'smtp://purser:password@mail.example.com:587',
  'Example Pay <pay@example.com>',
  'rk_live_...',
  'whsec_...',
  'a-long-random-word',
]);

/** Complains of each variable that begins like a setting of ours and is none: a misspelt setting would have no effect. */
export function refuseUnknown(settings: SettingsReader, variables: Iterable<string>): void {
  const known = new Set([...settings.asked().map(({ name }) => name), ...READ_SOMETIMES]);
  for (const name of variables) {
    if (!name.startsWith('PURSER_') || known.has(name)) continue;
    const meant = nearestTo(name, known);
    if (meant !== undefined) settings.complain(`${name} is not a setting. Did you mean ${meant}?`);
    else if (!OF_GUIDES.test(name)) settings.complain(`${name} is not a setting. Remove it.`);
  }
}

/** Complains of each variable that still has the value of a sample. */
export function refusePlaceholders(
  settings: SettingsReader,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || !PLACEHOLDERS.has(value)) continue;
    settings.complain(`${name} still has the value of the guide's sample. Set your own.`);
  }
}
