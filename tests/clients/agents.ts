/** An agent for a terminal. `npm run proofs -- agents` runs it with these settings, alone in a network. */
interface Agent {
  readonly name: string;
  readonly seenWith: string;
  readonly language: string;
  /** With `BASE_URL`, `USER` and `MODEL` in the places of these. */
  readonly settings: string;
  readonly notes: string;
}

export const CODEX = {
  name: 'Codex CLI',
  seenWith: '0.171.0',
  language: 'toml',
  settings: `model = "MODEL"
model_provider = "purser"

[model_providers.purser]
name = "Purser"
base_url = "BASE_URL"
env_key = "PURSER_API_KEY"
wire_api = "responses"
http_headers = { "x-service-user" = "USER" }`,
  notes:
    'This goes into `~/.codex/config.toml`. A 402 is printed with our message, which holds the link, after six tries in 6.5 seconds. Then top up, and go on with `codex exec resume --last`. A stream that breaks off is repeated up to five times: a failure of the provider costs nothing, and if the connection was lost, the repeat is a second call, unless the key [joins](guides/app-developer.md#retries) and the model drains (`onAbandon`). Each step sends the whole conversation again, 40 kB or more, which a provider with a cache makes cheaper. Its `web_search` is left out where the model has no price for it, and `x-service-left-out` says so.',
} as const satisfies Agent;

export const OPENCODE = {
  name: 'opencode',
  seenWith: '1.18.33',
  language: 'json',
  settings: `{
  "model": "purser/MODEL",
  "provider": {
    "purser": {
      "npm": "@ai-sdk/openai",
      "name": "Purser",
      "options": {
        "baseURL": "BASE_URL",
        "apiKey": "{env:PURSER_API_KEY}",
        "headers": { "x-service-user": "USER" }
      },
      "models": { "MODEL": {} }
    }
  }
}`,
  notes:
    'This goes into `opencode.json`. It makes two calls for a first prompt, of which one is for a title; both are charged. A 402 is printed with our message, which holds the link.',
} as const satisfies Agent;

export const CLAUDE_CODE = {
  name: 'Claude Code',
  seenWith: '2.1.332',
  language: 'json',
  settings: `{
  "env": {
    "ANTHROPIC_BASE_URL": "BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS": "x-service-user: USER",
    "ANTHROPIC_MODEL": "MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "MODEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "16000",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"
  }
}`,
  notes:
    'This goes into `~/.claude/settings.json`, and the API key into the environment variable `ANTHROPIC_AUTH_TOKEN`. Here, `BASE_URL` is the address of the service **without** `/v1`. A 402 is printed with our message, which holds the link, after one try. Then top up, and go on with `claude --continue`. A stream that its provider breaks off costs nothing, and is asked again as a whole answer, which is paid. If the connection was lost, the same stream is asked again, and is a second call, unless the key [joins](guides/app-developer.md#retries) and the model drains (`onAbandon`). Without `CLAUDE_CODE_MAX_OUTPUT_TOKENS` it asks for up to 128,000 tokens of output; what model or wallet do not allow is refused with the limit, and asked again within it if that is at least 4,096. Below, it prints the refusal: top up.',
} as const satisfies Agent;

export const AGENTS: readonly Agent[] = [CODEX, CLAUDE_CODE, OPENCODE];

/** The settings for one user and model. */
export function filledIn({ settings }: Agent, values: Readonly<Record<'BASE_URL' | 'USER' | 'MODEL', string>>): string {
  return settings.replace(/(?<![A-Z_])(?:BASE_URL|USER|MODEL)\b/g, (name) => values[name as keyof typeof values]);
}
