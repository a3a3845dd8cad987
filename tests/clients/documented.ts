/** A client whose settings are from its own documentation. No test runs it. */
interface DocumentedClient {
  readonly name: string;
  readonly language: string;
  readonly settings: string;
  /** What matters for Purser, and what of a refusal its user should see by that documentation. */
  readonly notes: string;
}

export const DOCUMENTED: readonly DocumentedClient[] = [
  {
    name: 'Open WebUI',
    language: 'sh',
    settings: `OPENAI_API_BASE_URL=http://127.0.0.1:8787/v1
OPENAI_API_KEY=svc_live_...
ENABLE_FORWARD_USER_INFO_HEADERS=True
FORWARD_USER_INFO_HEADER_USER_ID=x-service-user
# For documents, knowledge and memories:
RAG_EMBEDDING_ENGINE=openai
RAG_EMBEDDING_MODEL=vectors
RAG_OPENAI_API_BASE_URL=http://127.0.0.1:8787/v1
RAG_OPENAI_API_KEY=svc_live_...
RAG_EMBEDDING_BATCH_SIZE=100
RAG_EMBEDDING_CONCURRENT_REQUESTS=2`,
    notes:
      "Open WebUI sends its own id of the user in that header, so each user has a wallet. Connect each once, with `POST /connect` and that id. Titles and tags are calls too, and the user pays for them. Set a small task model, or switch them off. Embeddings name the user too. Without the last two lines, each piece of a document is a call, all at once, and rate limits refuse some. The name of a collection is embedded for no user, so that one call gets a 400, and the collection works all the same. Version 0.12.4 was run by hand: chats, plain and streamed, a document, and a question about it. In a chat it hands on our error whole, with the link; a document whose embeddings are refused fails with `402, message='Payment Required'` and no link.",
  },
  {
    name: 'Continue',
    language: 'yaml',
    settings: `models:
  - name: Purser
    provider: openai
    model: large
    apiBase: http://127.0.0.1:8787/v1
    apiKey: svc_live_...
    roles: [chat, edit, apply]
    requestOptions: &who
      headers:
        x-service-user: anna
  - name: Purser vectors
    provider: openai
    model: vectors
    apiBase: http://127.0.0.1:8787/v1
    apiKey: svc_live_...
    roles: [embed]
    requestOptions: *who`,
    notes:
      'This goes into `config.yaml`. Leave out the role `rerank`: there is no such route here. The role `embed` makes vectors of the whole code once, and of what changes. Autocompletion makes a call at each pause in typing, so consider what that costs.',
  },
  {
    name: 'aider',
    language: 'yaml',
    settings: `# .aider.model.settings.yml; then: aider --model openai/large
# OPENAI_API_BASE=http://127.0.0.1:8787/v1 OPENAI_API_KEY=svc_live_...
- name: openai/large
  extra_params:
    extra_headers:
      x-service-user: anna`,
    notes:
      'It calls through LiteLLM, which is [tested](#what-was-tested): its errors have our message and no code. A key that is bound to a user needs no settings file.',
  },
  {
    name: 'Spring AI',
    language: 'properties',
    settings: `spring.ai.openai.base-url=http://127.0.0.1:8787
spring.ai.openai.api-key=svc_live_...
spring.ai.openai.chat.options.model=large`,
    notes:
      'In version 1 the base address has no `/v1`, because Spring AI adds it; in version 2 it has one. These settings have no place for the header, so use a key that is bound to a user, or set the header for each call with `OpenAiChatOptions.builder().httpHeaders(Map.of("x-service-user", user))`. In version 1, a 4xx is a `NonTransientAiException` whose message holds our body, link included; it is not retried, and a 5xx is. Its retries are not marked: use a key that joins.',
  },
  {
    name: 'LangChain4j',
    language: 'java',
    settings: `ChatModel model = OpenAiChatModel.builder()
    .baseUrl("http://127.0.0.1:8787/v1")
    .apiKey(key)
    .modelName("large")
    .customHeaders(Map.of("x-service-user", user))
    .build();`,
    notes:
      'Make one model object for each user. It retries by itself (`maxRetries`) and does not mark its retries: use `maxRetries(0)`, or a key that joins. The message of its `HttpException` is our body. With `OpenAiStreamingChatModel` 1.19.0, a stream that failed calls `onError`, without our words.',
  },
  {
    name: 'openai-go',
    language: 'go',
    settings: `client := openai.NewClient(
	option.WithBaseURL("http://127.0.0.1:8787/v1"),
	option.WithAPIKey(key),
	option.WithHeader("x-service-user", user),
)`,
    notes:
      'It obeys `x-should-retry` and `retry-after`, and marks its retries (`X-Stainless-Retry-Count`), like the `openai` clients above. `*openai.Error` has `Code`, `Type` and the response, whose header `x-service-topup-url` is the link.',
  },
  {
    name: 'openai-java',
    language: 'java',
    settings: `OpenAIClient client = OpenAIOkHttpClient.builder()
    .baseUrl("http://127.0.0.1:8787/v1")
    .apiKey(key)
    .putHeader("x-service-user", user)
    .build();`,
    notes:
      'It obeys the same headers and marks its retries in the same way. `OpenAIServiceException` has `statusCode()`, `body()` and `headers()`, with the link in `x-service-topup-url`.',
  },
];
