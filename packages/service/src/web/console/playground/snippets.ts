import type { Mode } from '#kernel/values/ids.ts';
import type { Wanted } from '#web/console/playground/playground-call.ts';

const KEYS = { live: 'PURSER_LIVE_KEY', sandbox: 'PURSER_TEST_KEY' } as const;

/** The call as commands to copy. Keys are variables: no page can show one. */
export function snippetsOf(publicUrl: string, mode: Mode, { userId, body }: Wanted) {
  const url = `${publicUrl}/v1/chat/completions`;
  const curl = `curl ${url} \\
  -H "authorization: Bearer $${KEYS[mode]}" \\
  -H ${quoted(`x-service-user: ${userId}`)} \\
  -H 'content-type: application/json' \\
  -d ${quoted(body)}`;
  const javascript = `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.${KEYS[mode]}}\`,
    'x-service-user': ${JSON.stringify(userId)},
    'content-type': 'application/json',
  },
  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),
});
console.log(response.status, await response.text());`;
  const sent = `POST /v1/chat/completions
authorization: Bearer $${KEYS[mode]}
x-service-user: ${userId}
content-type: application/json

${body}`;
  return { curl, javascript, sent };
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
