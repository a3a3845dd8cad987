import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Microsoft Entra's token endpoint: it gives a client a token for its secret, and for nothing else. */
export async function startEntra() {
  const given = new Set<string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const {
        grant_type: grant,
        client_id: id,
        client_secret: secret,
        scope,
      } = Object.fromEntries(new URLSearchParams(body));
      const isAsked = request.method === 'POST' && request.url === '/tenant-1/oauth2/v2.0/token';
      const isRight = grant === 'client_credentials' && id === 'client-1' && secret === SECRET;
      if (!isAsked || !isRight || scope !== 'https://cognitiveservices.azure.com/.default') {
        response.writeHead(401).end(JSON.stringify({ error: 'invalid_client', error_codes: [7000215] }));
        return;
      }
      const token = `entra-token-${given.size}`;
      given.add(token);
      response.end(JSON.stringify({ token_type: 'Bearer', expires_in: 3_599, access_token: token }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** How the key is had, for the settings of the service. */
    definition: { tenant: 'tenant-1', client: 'client-1', authority, secretEnv: 'ENTRA_TEST_SECRET' },
    environment: { ENTRA_TEST_SECRET: SECRET },
    takesToken: (token: string) => given.has(token),
    tokens: () => given.size,
    close: () => server.close(),
  };
}

const SECRET = 'the secret of client 1';
