import { callItem, customCallItem, messageItem, streaming } from '../../support/responses-upstream.ts';
import { frame, type UpstreamScript } from '../../support/scripted-upstream.ts';

/** What a scripted model does: it calls a tool, or says something. A custom tool is given its `input`. */
export type Deed = Called | { readonly text: string };

interface Called {
  readonly tool: string;
  readonly given: object;
  readonly isCustom?: true;
}

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

export type AnswerWith = (deed: Deed, tokens: Tokens) => UpstreamScript;

/** A stream of a provider of chat completions. */
export const inChat: AnswerWith = (deed, { prompt, completion }) => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'large-upstream' };
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const deltas =
    'text' in deed
      ? piecesOf(deed.text).map((content) => ({ content }))
      : [{ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called(deed) }] }];
  const chunkOf = (delta: object, reason: string | null) => {
    return frame({ ...head, choices: [{ index: 0, delta, finish_reason: reason }] });
  };
  const frames = [
    chunkOf({ role: 'assistant', content: '' }, null),
    ...deltas.map((delta) => chunkOf(delta, null)),
    chunkOf({}, 'text' in deed ? 'stop' : 'tool_calls'),
    frame({ ...head, choices: [], usage }),
    frame('[DONE]'),
  ];
  return { body: frames.map((write) => ({ write })) };
};

/** A stream of a provider of Responses. */
export const natively: AnswerWith = (deed, { prompt, completion }) => {
  const item = itemOf(deed);
  const usage = { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion };
  return streaming([item], { usage });
};

function itemOf(deed: Deed) {
  if ('text' in deed) return messageItem(deed.text);
  if (deed.isCustom) {
    const { input } = deed.given as { readonly input: string };
    const [name = '', namespace] = deed.tool.split('__').toReversed();
    return customCallItem(name, input, namespace);
  }
  return callItem(deed.tool, called(deed).arguments);
}

function called({ tool, given }: Called) {
  return { name: tool, arguments: JSON.stringify(given) };
}

function piecesOf(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
