import type { Config } from '#app/config.ts';
import { type Demo, DEMO_OPERATOR_EMAIL, DEMO_OWNER_EMAIL } from '#app/demo.ts';

interface BannerOptions {
  readonly url: string;
  readonly demo: Demo;
  readonly config: Config;
}

/** What a development service says when it is ready: calls to paste, and where to read on. */
export function bannerOf({ url, demo, config }: BannerOptions): string {
  const database =
    config.databaseUrl === undefined ? `PostgreSQL in ${config.dataDirectory}` : 'PostgreSQL at DATABASE_URL';
  const model = config.catalogueFile === undefined ? 'demo' : '<a model of your catalogue>';
  return `
Purser is ready at ${url}   (development; ${database})

A live call, charged to the wallet of ${demo.userId}:

${callWith(url, demo.liveKey, demo.userId, model)}

What it left in the wallet:

  curl ${url}/balance -H 'authorization: Bearer ${demo.liveKey}' -H 'x-service-user: ${demo.userId}'

The same with the sandbox key: a fixed answer, play money, no provider:

${callWith(url, demo.testKey, demo.userId, model)}

Somebody who has no wallet yet is refused, with a link. Open it in a browser: the code to sign in with is in the mailbox
(${url}/dev/mailbox), the cards that pay are on the page. Then repeat the call:

${callWith(url, demo.liveKey, 'new-user', model)}

Sign in as the owner of the demo app, or as the operator of the service, for a session token (GET ${url}/openapi.json has the routes):

  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OWNER_EMAIL}","password":"${demo.ownerPassword}"}'
  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OPERATOR_EMAIL}","password":"${demo.operatorPassword}"}'

What owners of wallets see: ${url}/wallet
The books, checked to the micro: npm run purser -- ledger check
Read on: docs/guides/app-developer.md, docs/guides/operator.md. Stop with Ctrl-C.
`;
}

function callWith(url: string, apiKey: string, userId: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello, Purser!' }] });
  return `  curl -i ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${apiKey}' \\
    -H 'x-service-user: ${userId}' \\
    -H 'content-type: application/json' \\
    -d '${body}'`;
}
