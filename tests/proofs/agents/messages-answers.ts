import type { RecordedRequest, UpstreamScript, UpstreamStep } from '../../support/scripted-upstream.ts';
import { type AnswerWith, type Deed, inChat, type Tokens } from './answers.ts';

/** What a provider says to Claude Code, which asks for a stream, and for a whole answer when a stream has failed. */
export type Speaks = (request: RecordedRequest, deed: Deed, tokens: Tokens) => UpstreamScript;

export const speaksChat: Speaks = (request, deed, tokens) => (isStream(request) ? inChat : wholeChat)(deed, tokens);

export const speaksMessages: Speaks = (request, deed, tokens) =>
  (isStream(request) ? streamedMessage : wholeMessage)(deed, tokens);

export function isStream({ body }: RecordedRequest): boolean {
  return (body as { readonly stream?: boolean }).stream === true;
}

const wholeChat: AnswerWith = (deed, { prompt, completion }) => {
  const said =
    'text' in deed
      ? { content: deed.text }
      : { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: calledIn(deed) }] };
  const reason = 'text' in deed ? 'stop' : 'tool_calls';
  const choice = { index: 0, message: { role: 'assistant', ...said }, finish_reason: reason };
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  return {
    body: JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage }),
  };
};

function calledIn({ tool, given }: { readonly tool: string; readonly given: object }) {
  return { name: tool, arguments: JSON.stringify(given) };
}

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
const endOf = (deed: Deed) => ({ stop_reason: 'text' in deed ? 'end_turn' : 'tool_use', stop_sequence: null });

const wholeMessage: AnswerWith = (deed, { prompt, completion }) => {
  const block =
    'text' in deed
      ? { type: 'text', text: deed.text }
      : { type: 'tool_use', id: 'toolu_1', name: deed.tool, input: deed.given };
  const usage = { input_tokens: prompt, output_tokens: completion };
  return { body: JSON.stringify({ ...HEAD, content: [block], ...endOf(deed), usage }) };
};

const streamedMessage: AnswerWith = (deed, { prompt, completion }) => {
  const block =
    'text' in deed ? { type: 'text', text: '' } : { type: 'tool_use', id: 'toolu_1', name: deed.tool, input: {} };
  const begun = { ...HEAD, content: [], stop_reason: null, usage: { input_tokens: prompt, output_tokens: 1 } };
  const steps = [
    event('message_start', { message: begun }),
    event('content_block_start', { index: 0, content_block: block }),
    ...deltasOf(deed).map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: endOf(deed), usage: { output_tokens: completion } }),
    event('message_stop', {}),
  ];
  return { body: steps };
};

function deltasOf(deed: Deed): readonly object[] {
  if ('tool' in deed) return [{ type: 'input_json_delta', partial_json: JSON.stringify(deed.given) }];
  const middle = Math.ceil(deed.text.length / 2);
  return [deed.text.slice(0, middle), deed.text.slice(middle)].map((text) => ({ type: 'text_delta', text }));
}

function event(type: string, fields: object): UpstreamStep {
  return { write: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` };
}
