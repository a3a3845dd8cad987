import type { Config } from '#app/settings/config.ts';
import { type Demo, DEMO_OPERATOR_EMAIL, DEMO_OWNER_EMAIL } from '#app/start/demo.ts';

interface BannerOptions {
  readonly url: string;
  readonly demo: Demo;
  readonly config: Config;
}

/** The text that a development service prints when it is ready: calls to paste, and where to read on. */
export function bannerOf({ url: listensAt, demo, config }: BannerOptions): string {
  const url = config.isInContainer ? config.publicUrl : listensAt; // Inside a container it listens at 0.0.0.0.
  const database =
    config.databaseUrl === undefined ? `PostgreSQL in ${config.dataDirectory}` : 'PostgreSQL at DATABASE_URL';
  const { publicUrl } = config;
  const model = config.catalogueFile === undefined ? 'demo' : '<a model of your catalogue>';
  return `
Purser is ready at ${url}   (development; ${database})

In a browser: ${publicUrl}

A live call, charged to the wallet of ${demo.userId}:

${callWith(url, demo.liveKey, demo.userId, model)}

What is left in the wallet:

  curl ${url}/balance -H 'authorization: Bearer ${demo.liveKey}' -H 'x-service-user: ${demo.userId}'

The same call with the sandbox key (a fixed answer, play money, no provider):

${callWith(url, demo.testKey, demo.userId, model)}

A user without a wallet is refused, and the refusal contains a link. Open it in a browser. The sign-in code is in the
mailbox (${publicUrl}/dev/mailbox), and the page lists test cards. Then repeat the call:

${callWith(url, demo.liveKey, 'new-user', model)}

Sign in as the owner of the demo app, or as the operator of the service, to get a session token (routes: ${url}/openapi.json):

  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OWNER_EMAIL}","password":"${demo.ownerPassword}"}'
  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OPERATOR_EMAIL}","password":"${demo.operatorPassword}"}'

The variables of the guides, to paste into another terminal:

  export PURSER_URL=${url} PURSER_APP_ID=${demo.appId}
  export PURSER_API_KEY=${demo.liveKey} PURSER_TEST_KEY=${demo.testKey}
  export PURSER_OWNER_EMAIL=${DEMO_OWNER_EMAIL} PURSER_OWNER_PASSWORD=${demo.ownerPassword}

The pages for wallet owners: ${publicUrl}/wallet   The console of app owners: ${publicUrl}/console
Check the ledger, to the micro: npm run purser -- ledger check
Read on: ${publicUrl}/guides   Stop with Ctrl-C.
`;
}

/** A call to paste into a shell. `-i` shows the headers, which carry the call id and the rate limit. */
function callWith(url: string, apiKey: string, userId: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello, Purser!' }] });
  return `  curl -i ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${apiKey}' \\
    -H 'x-service-user: ${userId}' \\
    -H 'content-type: application/json' \\
    -d '${body}'`;
}
