import { inShell } from '#web/coding-agents/agent-lines.ts';
import { SNIPPET_TEXTS as TEXTS } from '#web/console/keys/texts.ts';

interface SnippetFacts {
  /** Where the service is, without a slash at the end. */
  readonly publicUrl: string;
  /** The key, or what stands for it once it cannot be shown any more. */
  readonly apiKey: string;
  /** A model that the key may call. */
  readonly model: string;
  /** The user whose wallet pays. It is undefined for a key that is bound to a user: its calls need no header. */
  readonly user: string | undefined;
}

interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

/** A first call in several languages, ready to run. */
export function snippetsFor(facts: SnippetFacts): readonly Snippet[] {
  return [
    { id: 'curl', label: TEXTS.curl, code: curl(facts) },
    { id: 'python', label: TEXTS.python, code: python(facts) },
    { id: 'javascript', label: TEXTS.javascript, code: javascript(facts) },
    { id: 'ai-sdk', label: TEXTS.aiSdk, code: aiSdk(facts) },
    { id: 'langchain', label: TEXTS.langchain, code: langchain(facts) },
  ];
}

/** Writes a text as a string of Python and JavaScript. */
const quoted = (text: string): string => JSON.stringify(text);

function curl({ publicUrl, apiKey, model, user }: SnippetFacts): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `curl ${inShell(`${publicUrl}/v1/chat/completions`)}`,
    `-H ${inShell(`authorization: Bearer ${apiKey}`)}`,
    ...(user === undefined ? [] : [`-H ${inShell(`x-service-user: ${user}`)}`]),
    `-H 'content-type: application/json'`,
    `-d ${inShell(body)}`,
  ].join(' \\\n  ');
}

function python({ publicUrl, apiKey, model, user }: SnippetFacts): string {
  return `from openai import OpenAI

client = OpenAI(
    base_url=${quoted(`${publicUrl}/v1`)},
    api_key=${quoted(apiKey)},
)
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": "Hello"}],
${user === undefined ? '' : `    extra_headers={"x-service-user": ${quoted(user)}},\n`})
print(answer.choices[0].message.content)`;
}

function javascript({ publicUrl, apiKey, model, user }: SnippetFacts): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${quoted(`${publicUrl}/v1`)},
  apiKey: ${quoted(apiKey)},
});
const answer = await client.chat.completions.create(
  { model: ${quoted(model)}, messages: [{ role: 'user', content: 'Hello' }] },
${user === undefined ? '' : `  { headers: { 'x-service-user': ${quoted(user)} } },\n`});
console.log(answer.choices[0].message.content);`;
}

function aiSdk({ publicUrl, apiKey, model, user }: SnippetFacts): string {
  return `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

const purser = createOpenAICompatible({
  name: 'purser',
  baseURL: ${quoted(`${publicUrl}/v1`)},
  apiKey: ${quoted(apiKey)},
${user === undefined ? '' : `  headers: { 'x-service-user': ${quoted(user)} },\n`}});
const { text } = await generateText({ model: purser(${quoted(model)}), prompt: 'Hello' });
console.log(text);`;
}

function langchain({ publicUrl, apiKey, model, user }: SnippetFacts): string {
  return `from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(model)},
    base_url=${quoted(`${publicUrl}/v1`)},
    api_key=${quoted(apiKey)},
${user === undefined ? '' : `    default_headers={"x-service-user": ${quoted(user)}},\n`})
print(model.invoke("Hello").content)`;
}
