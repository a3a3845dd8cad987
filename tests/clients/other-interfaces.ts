/** The parts of `docs/CLIENTS.md` about which interface a client calls, and about those that are not served. */
export const OTHER_INTERFACES = `## Which interface a client calls

The service serves chat completions, Responses, Messages and embeddings. The same usage costs the same on each. These clients call
Responses unless they are told otherwise:

| client | what switches it to chat completions |
|---|---|
| AI SDK 7 with @ai-sdk/openai 4, opencode | \`.chat('large')\`, or @ai-sdk/openai-compatible |
| OpenAI Agents, Python | \`set_default_openai_api('chat_completions')\` |
| OpenAI Agents, JavaScript | \`setOpenAIAPI('chat_completions')\` |
| pydantic-ai 2 | \`openai-chat:large\` |
| agno 3 | \`OpenAIChat\` |
| Agent Framework | \`OpenAIChatCompletionClient\` |
| LangChain, for names such as \`gpt-5.6\` or with \`codex\` or \`-pro\` | \`use_responses_api=False\`, in JavaScript \`useResponsesApi: false\` |
| Continue, for names that begin with \`gpt-5\` or as \`o3\` does | \`useResponsesApi: false\` |
| Codex CLI | nothing |

Some decide by the model's name: an alias without these letters keeps them at chat completions.

What is different on Responses:

- Nothing is stored. \`previous_response_id\`, \`conversation\`, \`background\` and \`store: true\` are refused by name: send the whole conversation.
  The AI SDK sends ids in the place of items and works all the same, because the ids of our answers carry their items.
- A stream that fails after its first byte ends with \`response.failed\` and then \`error\`. Codex shows the words of the first, libraries
  raise the second.
- The message of a 402 holds the link, because few of these clients show anything else.

What is different on Messages:

- A \`max_tokens\` above what the model or the wallet allows gets a 400 that names the limit, and Claude Code comes again with that.
  The AI SDK and LangChain ask for 4,096 tokens of a model whose name they do not know, and pydantic-ai for 16,384, unless you set
  another number.
- The key goes as \`x-api-key\` or \`authorization\`. Claude Code names its user by \`ANTHROPIC_CUSTOM_HEADERS="x-service-user: ..."\`, and takes
  the address without \`/v1\`.
- The message of a 402 holds the link.

Other interfaces of the same vendors get a 400 that says so, costs nothing and reaches nobody:

| client | calls | what switches it to chat completions |
|---|---|---|
| LlamaIndex, \`OpenAILike\` | \`/v1/completions\` | \`is_chat_model=True\` |`;
