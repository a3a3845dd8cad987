import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolContent = Extract<LanguageModelV4Message, { role: 'tool' }>['content'];

/** What Google takes for a signature that its caller no longer has (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const UNSIGNED = 'skip_thought_signature_validator';

/** The same call with a prompt in the form that Gemini wants. `isSigned`: the model wants its function calls signed. */
export function fitPrompt(options: LanguageModelV4CallOptions, isSigned: boolean): LanguageModelV4CallOptions {
  const prompt: LanguageModelV4Prompt = [];
  for (const message of options.prompt) {
    const before = prompt.at(-1);
    if (message.role === 'tool') {
      const content = message.content.map(withPlainOutput);
      // The results of parallel calls must be in one content.
      if (before?.role === 'tool') for (const part of content) before.content.push(part);
      else prompt.push({ ...message, content });
    } else if (message.role === 'assistant') {
      const signed = withSignedTexts(message);
      // Of a signature without its text nothing is left, and Gemini refuses a message without parts.
      if (signed.content.length > 0) prompt.push(isSigned ? withSignature(signed) : signed);
    } else prompt.push(message);
  }
  return { ...options, prompt };
}

/** A result of texts alone as one text. For older models the library would make a result of each of its parts. */
function withPlainOutput(part: ToolContent[number]): ToolContent[number] {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const texts = part.output.value.filter((one) => one.type === 'text');
  if (texts.length < part.output.value.length) return part;
  return { ...part, output: { type: 'text', value: texts.map(({ text }) => text).join('\n') } };
}

/** Gives a signature that stands alone (`signed-texts.ts`) back to the text before it, or else behind it. */
function withSignedTexts(message: Assistant): Assistant {
  const content: Assistant['content'] = [];
  let waiting: SharedV4ProviderOptions | undefined;
  for (const part of message.content) {
    const isAlone = part.type === 'reasoning' && part.text === '';
    const before = content.at(-1);
    if (isAlone && before?.type === 'text') content.splice(-1, 1, { ...before, ...optionsOf(part.providerOptions) });
    else if (isAlone) waiting = part.providerOptions;
    else if (part.type === 'text' && waiting !== undefined) {
      content.push({ ...part, ...optionsOf(waiting) });
      waiting = undefined;
    } else content.push(part);
  }
  return { ...message, content };
}

function optionsOf(providerOptions: SharedV4ProviderOptions | undefined) {
  return providerOptions === undefined ? {} : { providerOptions };
}

/** Signs the first function call if no signature came with it, as from another model or from a client that drops it. */
function withSignature(message: Assistant): Assistant {
  const place = message.content.findIndex((part) => part.type === 'tool-call');
  const first = message.content[place];
  if (first?.type !== 'tool-call' || first.providerOptions?.['google']?.['thoughtSignature'] !== undefined)
    return message;
  const providerOptions = { ...first.providerOptions, google: { thoughtSignature: UNSIGNED } };
  return { ...message, content: message.content.with(place, { ...first, providerOptions }) };
}
