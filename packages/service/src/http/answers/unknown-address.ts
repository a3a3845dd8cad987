import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** An interface of the same vendors that is not served here. */
interface OtherInterface {
  /** The end of its addresses. */
  readonly address: RegExp;
  readonly name: string;
  /** How clients of it are switched to an interface that is served, or to another service. */
  readonly advice: string;
}

/**
 * What clients call that are set to another interface. They get a 400 and no 404, which they take for an unknown model, retry, or
 * hide. A row goes when its interface is served.
 */
const NOT_SERVED: readonly OtherInterface[] = [
  {
    // A client whose base address is wrong calls chat completions elsewhere. That is an unknown address.
    address: /(?<!\/chat)\/completions$/,
    name: 'completions without a chat',
    advice:
      'Switch your client to chat completions: `is_chat_model=True` (LlamaIndex), `ChatOpenAI` for `OpenAI` (LangChain), `openai/<model>` for `text-completion-openai/<model>` (LiteLLM), `useLegacyCompletionsEndpoint: false` (Continue).',
  },
];

const CHAT_ONLY =
  ' Chat completions are at `/v1/chat/completions`. Set your client to that interface, with a base address that ends in `/v1`.';
const RESPONSES = ' Responses are at `/v1/responses`. Give your client a base address that ends in `/v1`.';
const MESSAGES = ' Messages are at `/v1/messages`. Give your client the base address without `/v1`.';
const EMBEDDINGS = ' Embeddings are at `/v1/embeddings`. Give your client a base address that ends in `/v1`.';
const NOTHING_KEPT =
  ' No response is kept here, so none can be read, continued or cancelled later. Send the whole conversation with each call.';
const ELSEWHERE =
  ' It serves chat completions, at `/v1/chat/completions`, Responses, at `/v1/responses`, and Messages, at `/v1/messages`. Send such calls to another service, or switch the feature off in your client.';

/** Addresses that are unknown here, and what they tell of their client. */
const HINTS: readonly (readonly [address: RegExp, advice: string])[] = [
  [/\/completions$/, CHAT_ONLY],
  [/\/responses$/, RESPONSES],
  [/\/embeddings$/, EMBEDDINGS],
  [/\/messages(?:\/count_tokens)?$/, MESSAGES],
  [/\/responses\/[^/]{1,64}(?:\/(?:cancel|input_items))?$/, NOTHING_KEPT],
  [/\/images\/(generations|edits|variations)$/, ` This service does not make images.${ELSEWHERE}`],
  [/\/moderations$/, ` This service has no moderations.${ELSEWHERE}`],
  [/\/audio\/(speech|transcriptions|translations)$/, ` This service has no audio.${ELSEWHERE}`],
];

const ADDRESSES = [...NOT_SERVED.map(({ address }) => address), ...HINTS.map(([address]) => address)];

/** The interface of another service that this address is for, without what stands before it. Undefined: it is for none. */
export function interfaceAt(path: string): string | undefined {
  for (const address of ADDRESSES) {
    const [found] = address.exec(path) ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The refusal of an address that no route is for (ER-04). */
export function refusalOfAddress(path: string): Refusal<'BAD_REQUEST' | 'NOT_FOUND'> {
  const other = NOT_SERVED.find(({ address }) => address.test(path));
  if (other === undefined) {
    const advice = HINTS.find(([address]) => address.test(path))?.[1] ?? '';
    return refuse('NOT_FOUND', `There is nothing at this address.${advice}`);
  }
  const { address, name, advice } = other;
  const [found = ''] = address.exec(path) ?? [];
  return refuse(
    'BAD_REQUEST',
    `This service has no ${name} (\`${found}\`). It serves chat completions, \`POST /v1/chat/completions\`, Responses, \`POST /v1/responses\`, and Messages, \`POST /v1/messages\`. ${advice}`,
  );
}
