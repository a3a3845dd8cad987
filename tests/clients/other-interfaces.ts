/** The part of `docs/CLIENTS.md` about clients that call something else than chat completions. */
export const OTHER_INTERFACES = `## Clients of other interfaces

The service serves chat completions and no other interface of the same vendors. A call of one gets a 400 that says so, costs
nothing and reaches nobody. These clients call one unless they are told otherwise:

| client | calls | what switches it to chat completions |
|---|---|---|
| AI SDK 7 with @ai-sdk/openai 4 | \`/v1/responses\` | \`.chat('large')\`, or @ai-sdk/openai-compatible |
| OpenAI Agents, Python | \`/v1/responses\` | \`set_default_openai_api('chat_completions')\` |
| OpenAI Agents, JavaScript | \`/v1/responses\` | \`setOpenAIAPI('chat_completions')\` |
| pydantic-ai 2 | \`/v1/responses\` | \`openai-chat:large\` |
| agno 3 | \`/v1/responses\` | \`OpenAIChat\` |
| Agent Framework | \`/v1/responses\` | \`OpenAIChatCompletionClient\` |
| opencode, its own provider "openai" | \`/v1/responses\` | a provider [with @ai-sdk/openai-compatible](#opencode) |
| LangChain, for names such as \`gpt-5.6\` or with \`codex\` or \`-pro\` | \`/v1/responses\` | \`use_responses_api=False\`, in JavaScript \`useResponsesApi: false\` |
| Continue, for names that begin with \`gpt-5\` or as \`o3\` does | \`/v1/responses\` | \`useResponsesApi: false\` |
| Codex CLI | \`/v1/responses\` | nothing |
| Claude Code, @anthropic-ai/sdk | \`/v1/messages\` | nothing |
| LlamaIndex, \`OpenAILike\` | \`/v1/completions\` | \`is_chat_model=True\` |
| embedders of mem0, LlamaIndex, Haystack, LangChain, AI SDK | \`/v1/embeddings\` | another service for these |

Some decide by the model's name: an alias without these letters keeps them at chat completions.`;
