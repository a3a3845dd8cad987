import { AGENT_TEXTS as TEXTS } from '#web/coding-agents/texts.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { codeBlock, codeTabs, linkLine, section } from '#web/components/parts.ts';
import type { AgentModels } from '#web/coding-agents/agent-models.ts';

export interface AgentFacts {
  /** Where the service is, without a slash at the end. */
  readonly publicUrl: string;
  /** The model that does the work. */
  readonly model: string;
  /** The one for titles and the like, which some agents call beside it. */
  readonly smallModel: string;
}

/** What to paste for one coding agent. The key stands in the variable `PURSER_API_KEY`, or is typed where the text says so. */
export interface AgentLines {
  readonly id: string;
  readonly label: string;
  readonly code: string;
  /** What to know about it, a sentence or two. */
  readonly note: string;
}

/** More than one answer needs, and a hold that most wallets can pay: Claude Code would ask for 128,000. */
const CLAUDE_OUTPUT_TOKENS = 16_000;

/** The lines for each agent, with a key that is bound to one user: none has to name the user. */
export function agentLines(facts: AgentFacts): readonly AgentLines[] {
  const codexNote = CODEX_NAMES.has(facts.model) ? TEXTS.codexKnown : TEXTS.codexUnknown;
  return [
    { id: 'codex', label: 'Codex CLI', code: codex(facts), note: `${codexNote} ${TEXTS.codex}` },
    { id: 'claude-code', label: 'Claude Code', code: claudeCode(facts), note: TEXTS.claudeCode },
    { id: 'opencode', label: 'opencode', code: opencode(facts), note: TEXTS.opencode },
    { id: 'cline', label: 'Cline', code: cline(facts), note: TEXTS.cline },
    { id: 'continue', label: 'Continue', code: continueDev(facts), note: TEXTS.continueDev },
    { id: 'aider', label: 'aider', code: aider(facts), note: TEXTS.aider },
  ];
}

/** The line that gives an agent its key, before any of these are used. */
export function keyLine(apiKey: string): string {
  return `export PURSER_API_KEY=${inShell(apiKey)}`;
}

/** Writes a text as a string of TOML, JSON and YAML. */
const quoted = (text: string): string => JSON.stringify(text);
/** Quotes a text for a POSIX shell. */
export const inShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function codex({ publicUrl, model }: AgentFacts): string {
  return `# ~/.codex/config.toml
model = ${quoted(model)}
model_provider = "purser"
web_search = "disabled"

[model_providers.purser]
name = "Purser"
base_url = ${quoted(`${publicUrl}/v1`)}
env_key = "PURSER_API_KEY"
wire_api = "responses"`;
}

function claudeCode({ publicUrl, model, smallModel }: AgentFacts): string {
  return `export ANTHROPIC_BASE_URL=${inShell(publicUrl)}
export ANTHROPIC_AUTH_TOKEN="$PURSER_API_KEY"
export ANTHROPIC_MODEL=${inShell(model)}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${inShell(smallModel)}
export CLAUDE_CODE_MAX_OUTPUT_TOKENS=${CLAUDE_OUTPUT_TOKENS}
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude`;
}

/** As JSON that a person edits: `opencode.json` takes no comments, so the note says where it goes. */
function opencode({ publicUrl, model, smallModel }: AgentFacts): string {
  const models = Object.fromEntries([...new Set([model, smallModel])].map((name) => [name, {}]));
  const provider = {
    npm: '@ai-sdk/openai',
    name: 'Purser',
    options: { baseURL: `${publicUrl}/v1`, apiKey: '{env:PURSER_API_KEY}' },
    models,
  };
  const settings = { model: `purser/${model}`, small_model: `purser/${smallModel}`, provider: { purser: provider } };
  return JSON.stringify(settings, undefined, 2);
}

function cline({ publicUrl, model }: AgentFacts): string {
  return `API Provider  OpenAI Compatible
Base URL      ${publicUrl}/v1
API Key       ${TEXTS.clineKey}
Model ID      ${model}`;
}

function continueDev({ publicUrl, model }: AgentFacts): string {
  return `# ~/.continue/config.yaml
name: Purser
version: 1.0.0
schema: v1
models:
  - name: ${quoted(model)}
    provider: openai
    model: ${quoted(model)}
    apiBase: ${quoted(`${publicUrl}/v1`)}
    apiKey: \${{ secrets.PURSER_API_KEY }}
    roles: [chat, edit, apply]`;
}

function aider({ publicUrl, model, smallModel }: AgentFacts): string {
  return `export OPENAI_API_BASE=${inShell(`${publicUrl}/v1`)}
export OPENAI_API_KEY="$PURSER_API_KEY"
aider --model ${inShell(`openai/${model}`)} --weak-model ${inShell(`openai/${smallModel}`)}`;
}

interface LinesSection {
  readonly publicUrl: string;
  /** The key, or what stands for it once it cannot be shown any more. */
  readonly apiKey: string;
  readonly models: AgentModels;
  /** What to know before, and the choice of a model if the page has one. */
  readonly before: readonly (Html | undefined)[];
  /** Says that there is no model to name. */
  readonly none: string;
}

/** Where the guide for people who run coding agents is. */
export const AGENTS_GUIDE = '/guides/coding-agents';

/** The lines to paste for each agent, of which the reader chooses one. */
export function linesSection({ publicUrl, apiKey, models, before, none }: LinesSection): Html {
  const { model, smallModel = model } = models;
  if (model === undefined || smallModel === undefined) {
    return section({ id: 'lines', heading: TEXTS.heading, body: [html`<p>${none}</p>`] });
  }
  const blocks = agentLines({ publicUrl, model, smallModel });
  return section({
    id: 'lines',
    heading: TEXTS.heading,
    body: [
      ...before,
      codeBlock({ id: 'shell', label: TEXTS.shell, code: keyLine(apiKey) }),
      codeTabs('agent', TEXTS.agent, blocks),
      linkLine(AGENTS_GUIDE, TEXTS.guide),
    ],
  });
}

/**
 * The names of models that Codex CLI 0.171.0 knows. For one of these it sends tools in a form of its own, and for any other
 * name the plain form. The provider behind the name makes no difference.
 */
const CODEX_NAMES: ReadonlySet<string> = new Set([
  'gpt-5.5',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-5.6-luna',
  'gpt-6-sol',
  'gpt-6-luna',
  'gpt-6-astra',
  'gpt-6.1-sol',
  'gpt-6.1-terra',
  'gpt-6.2-sol',
  'gpt-6.2-astra',
]);
