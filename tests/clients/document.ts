import { readFileSync } from 'node:fs';
import { CLIENTS } from './clients.ts';
import { DOCUMENTED } from './documented.ts';
import { type Column, expectedOf, matrixText } from './matrix.ts';
import { PYTHON_CLIENTS } from './python.ts';
import { SCENARIOS } from './scenarios.ts';
import type { StockClient } from './stock-client.ts';
import { TOOLS } from './tools.ts';
import { installedVersions } from './versions.ts';

/** The text of `docs/CLIENTS.md`: the results expected of the installed versions, and the settings that the tests use. */
export function clientsDocument(): string {
  const columns = [
    ...CLIENTS.map((client) => expectedColumn(client, installedVersions(client))),
    ...PYTHON_CLIENTS.map((client) => expectedColumn(client, client.seenWith?.join(', ') ?? '')),
  ];
  const clients = columns.map(({ client }) => client);
  const differences = clients.flatMap(differencesOf).join('\n');
  const tools = TOOLS.map(({ name, seenWith, settings, notes }) => {
    return `${settingsOf({ name: `${name} ${seenWith}`, settings })}\n\n${notes}`;
  });
  const documented = DOCUMENTED.map(
    ({ name, language, settings, notes }) => `### ${name}\n\n\`\`\`${language}\n${settings}\n\`\`\`\n\n${notes}`,
  );
  const stock = [HEAD, matrixText(columns), DIFFERENCES, differences, SETTINGS, ...clients.map(settingsOf)];
  const parts = [...stock, TRIED, ...tools, UNTRIED, ...documented];
  return `${parts.join('\n\n')}\n`;
}

const HEAD = `# Clients

\`node tools/clients-table.ts\` writes this file from the tests in \`tests/clients\`. Do not edit it.

\`npm test\` runs every scenario with each of these unmodified client libraries, against the whole service and a provider
whose answers the scenario chooses. It prints this table with the results. \`ok\` means that the client behaves as it should
and the service charges the right amount. The Python clients run only if they are installed (\`pip install openai litellm mcp\`;
\`PURSER_TEST_PYTHON\` may name the interpreter). The table gives the versions that were run.`;

const DIFFERENCES = `## Where a client differs

A failed call is not charged. Only \`connection lost\` costs the user money: the service has completed the call, and then
serves it a second time.`;

const SETTINGS = `## Settings

\`baseUrl\` is the address of the service with \`/v1\` (\`http://127.0.0.1:8787/v1\`). \`key\` is an API key of the app, and
\`user\` is the end user who pays. \`large\` stands for a model of the catalogue. The tests run exactly these lines.`;

const TRIED = `## Tools that were tried

\`tests/conformance/python-tools.test.ts\` runs these with \`PURSER_TEST_PYTHON\` set to an interpreter that has them: a call that is
answered and charged once, and one that is refused for lack of money. A tool that cannot send headers of its own needs a key
that is bound to a user. A tool that repeats calls without marking them needs a key that joins. See
[the app developer's guide](guides/app-developer.md#retries).`;

const UNTRIED = `## Settings from documentation

These were not run against Purser. The settings and notes are from the documentation or the source of each client.`;

function expectedColumn(client: StockClient, version: string): Column {
  return { client, version, seen: new Map(SCENARIOS.map(({ name }) => [name, expectedOf(client, name)])) };
}

/** Scenarios that differ for the same reason share a line. */
function differencesOf({ name, differs }: StockClient): readonly string[] {
  const scenarios = new Map<string, string[]>();
  for (const [scenario, { why }] of Object.entries(differs)) {
    scenarios.set(why, [...(scenarios.get(why) ?? []), scenario]);
  }
  return [...scenarios].map(([why, of]) => `- **${name}** (${of.join('; ')}): ${why}.`);
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
    .replaceAll('\n\n)', '\n)')}\n\`\`\``;
}
