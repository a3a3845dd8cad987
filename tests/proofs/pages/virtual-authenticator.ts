import type { Tab } from '../../support/chromium.ts';

/** A device with a fingerprint reader that accepts or rejects the finger. */
export async function plugInAuthenticator({ context, page }: Tab) {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setUserVerified: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    credentials: async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}
