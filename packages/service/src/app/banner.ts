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

Sign in as the owner of the demo app, or as the operator of the service, for a session token (GET ${url}/openapi.json has the routes):

  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OWNER_EMAIL}","password":"${demo.ownerPassword}"}'
  curl ${url}/sessions -H 'content-type: application/json' \\
    -d '{"email":"${DEMO_OPERATOR_EMAIL}","password":"${demo.operatorPassword}"}'

Mail that it sends, such as password resets: ${url}/dev/mailbox
The books, checked to the micro: npm run purser -- ledger check
Read on: README.md, docs/ARCHITECTURE.md. Stop with Ctrl-C.
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
