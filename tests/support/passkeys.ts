import { sealedEmail } from './database.ts';
import { type Authenticator, createAuthenticator, type Oddity } from './authenticator.ts';
import type { Reply } from './client.ts';
import { assertPage, attributeOf, type Browser } from './page.ts';
import { browserOf } from './people.ts';
import type { TestService } from './service.ts';

/** Pages that ask the browser for a passkey. */
export const SCRIPT = { hasScript: true };
export const PASSKEYS_TITLE = 'How you sign in';

interface Asked {
  readonly challenge: string;
  readonly [name: string]: unknown;
}

/** The options that the script of the shown page would use. */
export function optionsOf({ text }: Reply): Asked {
  return JSON.parse(attributeOf(text, 'data-options')) as Asked;
}

export async function addPasskey(browser: Browser, authenticator: Authenticator, oddity?: Oddity): Promise<Reply> {
  const options = optionsOf(await browser.open('/wallet/passkeys'));
  return browser.submit('/wallet/passkeys', { credential: authenticator.create(options, oddity) });
}

let owners = 0;

/** A signed-in person with a passkey. */
export async function passkeyOwner(service: TestService, authenticator = createAuthenticator()) {
  const email = `passkey-${(owners += 1)}@example.test`;
  const browser = await browserOf(service, email);
  assertPage(await addPasskey(browser, authenticator), 200, PASSKEYS_TITLE, SCRIPT);
  return { email, browser, authenticator };
}

export async function signInByPasskey(browser: Browser, authenticator: Authenticator, oddity?: Oddity): Promise<Reply> {
  const options = optionsOf(await browser.open('/wallet/sign-in?then=/wallet/passkeys'));
  return browser.submit('/wallet/passkeys/use', { credential: authenticator.get(options, oddity) });
}

export async function passkeysOf({ database: { owner } }: TestService, email: string): Promise<number> {
  const { rowCount } = await owner.query(
    'select from identities.passkeys p join identities.identities i using (identity_id) where i.email = $1',
    [sealedEmail(email)],
  );
  return rowCount ?? 0;
}
