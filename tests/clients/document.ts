import { readFileSync } from 'node:fs';
import { NODE_CLIENTS } from '../support/installed.ts';
import { AGENTS } from './agents.ts';
import { CLIENTS } from './clients.ts';
import { DOCUMENTED } from './documented.ts';
import { EMBEDDERS } from './embedders.ts';
import { type Column, expectedOf, matrixText } from './matrix.ts';
import { OTHER_INTERFACES } from './other-interfaces.ts';
import { PYTHON_CLIENTS } from './python.ts';
import { SCENARIOS } from './scenarios.ts';
import type { StockClient } from './stock-client.ts';
import { TOOLS } from './tools.ts';
import { installedVersions } from './versions.ts';

/** The text of `docs/CLIENTS.md`: the settings that the tests use, and the results expected of the installed versions. */
export function clientsDocument(): string {
  const columns = [
    ...CLIENTS.map((client) => expectedColumn(client, installedVersions(client))),
    ...PYTHON_CLIENTS.map((client) => expectedColumn(client, client.seenWith?.join(', ') ?? '')),
  ];
  const clients = columns.map(({ client }) => client);
  const [tools = [], embedders = []] = [TOOLS, EMBEDDERS].map((list) =>
    list.map(({ name, seenWith, settings, notes }) => {
      return `${settingsOf({ name: `${name} ${seenWith}`, settings })}\n\n${notes}`.trimEnd();
    }),
  );
  const documented = DOCUMENTED.map(
    ({ name, language, settings, notes }) => `### ${name}\n\n\`\`\`${language}\n${settings}\n\`\`\`\n\n${notes}`,
  );
  const agents = AGENTS.map(
    ({ name, seenWith, language, settings, notes }) =>
      `### ${name} ${seenWith}\n\n\`\`\`${language}\n${settings}\n\`\`\`\n\n${notes}`,
  );
  const tried = [TRIED, ...tools, EMBEDDERS_TRIED, ...embedders, AGENTS_TRIED, ...agents];
  const settings = [HEAD, ...eachFile(clients).map(settingsOf), ...tried, UNTRIED, ...documented, OTHER_INTERFACES];
  const results = [DIFFERENCES, differencesOf(clients).join('\n'), COSTS, RESULTS, matrixText(columns), MADE];
  return `${[...settings, ...results].join('\n\n')}\n`;
}

const HEAD = `# Clients

Any client of chat completions, Responses, Messages or embeddings works unmodified. Give it the address of the service with \`/v1\`, or
without it for most clients of Messages, an API key of your app, and the header \`x-service-user\` with your name for the user who
pays. Here are the settings for each, then what is [different](#where-a-client-differs) about some.

- A tool that cannot send headers of its own needs a key that is [bound to a user](guides/app-developer.md#keys).
- A tool that repeats calls without marking them needs a key that [joins](guides/app-developer.md#retries).

In the settings, \`baseUrl\` is \`http://127.0.0.1:8787/v1\` or the like, \`rootUrl\` the same without \`/v1\`, \`key\` the API key, \`user\` the user, and \`large\` a
model of the catalogue. Where \`client\` is not made, it is made as above; \`body\` is a request, and \`heard\` what your app gathers.

## Libraries`;

const TRIED = `## Tools

We have run each in the version that is given.`;

const EMBEDDERS_TRIED = `## Clients of embeddings

We have run each in the version that is given. \`vectors\` is a [model of embeddings](guides/operator/catalogue.md#models-of-embeddings).
In each, the message of a 402 holds the link. A client that splits texts into tokens by itself sends those of OpenAI, which other models
read as something else: let it send texts.`;

const AGENTS_TRIED = `## Agents

We have run each in the version that is given, with these settings, in a network that held nothing but the service. \`BASE_URL\`, \`USER\`
and \`MODEL\` stand for yours.

With a key of one user and the lines of [the guide for coding agents](guides/coding-agents.md), Cline 3.0.65, Continue 1.5.47 and aider 0.86.2
finished a prompt as well, each with one call and its charge.`;

const UNTRIED = `## Other clients

No test runs these. Their settings are from the documentation or the source of each.`;

const DIFFERENCES = `## Where a client differs

A failed call is not charged. Only \`connection lost\` costs the user money: the service has completed the call, and then
serves it a second time.`;

const COSTS = `## What else costs users money

Each was seen in the version that is given. Each call of a client is charged, also one that it makes by itself.

| client | what it does | what helps |
|---|---|---|
| OpenAI Agents JS 0.20.0 | calls ten times (\`maxTurns\`) for an answer whose \`content\` is null | an answer that says nothing has an empty text here, so it calls once |
| Mastra 1.71.0 | calls five times after a reason to finish that it does not know, or that tells of calls where there are none | no such reason leaves the service |
| pydantic-ai 2.68.0 | calls twice for an empty answer, then raises | a limit of output that leaves room beside the reasoning |
| openai (Python) 3.57.0 | prints a 402 without the link | \`error.body["topupUrl"]\`; 3.3.0 printed the body |
| agno 3.1.10 | returns the message of a 402 as the answer | look at the \`status\` of the run: it is \`error\` |
| Codex CLI 0.171.0 | repeats a stream up to five times, without a key. What its provider broke off is free. After a lost connection, each try is charged: its prompt, and what was generated until then | an API key that [joins](guides/app-developer.md#retries), and \`onAbandon: "drain"\`: a repeat gets the first answer, uncharged, until \`joinSeconds\` after its end. With \`"cancel"\`, each try is charged |
| Claude Code 2.1.332 | after an \`error\` event, which is free, asks once for the whole answer, which is paid. After a lost connection, repeats the stream up to eleven times in three minutes, without a key, and each try is charged like one of Codex | the same. Tries that begin later than \`joinSeconds\` after the answer are charged |
| Claude Code 2.1.332 | makes four calls for an answer that reaches its limit of output, and two for one without text; all are charged | a \`CLAUDE_CODE_MAX_OUTPUT_TOKENS\` that leaves room beside the reasoning |
| opencode 1.18.33 | makes a call for a title beside the first prompt. Repeats what failed, which is free, and what its connection lost, where each try is charged like one of Codex | \`small_model\`, a cheaper one, and a key that joins |
| Codex CLI 0.171.0 | sends no limit of output | a call may use what the model and the wallet allow |
| openai 7.59.0, LangChain JS 1.6.0 | take a stream of Responses that ends with \`response.failed\` for a proper answer | an \`error\` event follows here, which they raise |
| Genkit | calls a 402 an unknown error | the header \`x-service-topup-url\` |
| langchaingo 0.1.14 | returns no error for a stream that failed, which costs nothing | such an answer has an empty \`StopReason\` |
| langchaingo 0.1.14 | stops reading at a line of more than 64 KB, which a picture, a citation or sealed reasoning can make | plain calls for models that draw or cite |`;

const RESULTS = `## What was tested

\`ok\` means that the client behaves as it should and the service charges the right amount. The versions are those that \`npm test\` runs,
each at least 30 days old. In a clone, \`npm run proofs -- clients\` gets the same from the newest: ${newest()}.`;

function newest(): string {
  return Object.entries(NODE_CLIENTS.versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

const MADE = `\`node tools/clients-table.ts\` writes this page from [the tests](../tests/clients/README.md).`;

/** The clients without those whose settings stand under another already. */
function eachFile(clients: readonly StockClient[]): readonly StockClient[] {
  return [...new Map(clients.toReversed().map((client) => [client.settings.href, client])).values()].toReversed();
}

function expectedColumn(client: StockClient, version: string): Column {
  return { client, version, seen: new Map(SCENARIOS.map(({ name }) => [name, expectedOf(client, name)])) };
}

/** A line for each reason, with the clients and the scenarios that differ for it. */
function differencesOf(clients: readonly StockClient[]): readonly string[] {
  const lines = new Map<string, Set<string>>();
  for (const { name, differs } of clients) {
    const reasons = Map.groupBy(Object.entries(differs), ([, { why }]) => why);
    for (const [why, scenarios] of reasons) {
      const said = `(${scenarios.map(([scenario]) => scenario).join('; ')}): ${why}.`;
      lines.set(said, (lines.get(said) ?? new Set()).add(`**${name}**`));
    }
  }
  return [...lines].map(([said, names]) => `- ${[...names].join(', ')} ${said}`);
}

const LANGUAGES: Readonly<Record<string, string>> = { py: 'python', yaml: 'yaml' };
const MARKED = /^ *(?:\/\/|#) settings\n(?<lines>[^]*?)^ *(?:\/\/|#) end\n/gm;

/** The marked lines of the file that the tests run, without their common indent. */
function settingsOf({ name, settings }: Pick<StockClient, 'name' | 'settings'>): string {
  const stretches = [...readFileSync(settings, 'utf8').matchAll(MARKED)].map(({ groups }) => {
    const lines = (groups?.['lines'] ?? '').trimEnd().split('\n');
    const indent = lines.find((line) => line !== '')?.search(/\S/) ?? 0;
    return lines.map((line) => line.slice(indent)).join('\n');
  });
  if (stretches.length === 0) throw new Error(`${settings.pathname} marks no settings.`);
  const language = LANGUAGES[settings.pathname.split('.').at(-1) ?? ''] ?? 'js';
  return `### ${name}\n\n\`\`\`${language}\n${stretches
    .join('\n\n')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll(/\n\n(?=[)}])/g, '\n')}\n\`\`\``;
}
