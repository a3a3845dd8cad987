import type { UpstreamScript, UpstreamStep } from '../../../support/scripted-upstream.ts';
import { anthropic } from './anthropic.ts';
import { inOddPieces } from './bedrock-frames.ts';
import { frame } from './event-stream.ts';
import { CANARY, type VendorAnswer, type VendorRequest } from './vendor.ts';

/** Claude behind InvokeModel: Anthropic's answers, in another envelope. */

type Fields = Readonly<Record<string, unknown>>;

const KNOWN = new Set(
  `anthropic_version anthropic_beta max_tokens messages system stop_sequences temperature top_p top_k tools tool_choice
  thinking output_config`.split(/\s+/),
);
const METRICS = { inputTokenCount: 5_400, outputTokenCount: 40, invocationLatency: 9, firstByteLatency: 3 };
const STREAM = { 'content-type': 'application/vnd.amazon.eventstream' };

interface Invocation {
  readonly model: string;
  readonly isStream: boolean;
  readonly failed: (type: string, message: string) => UpstreamScript;
}

export function invoked(request: VendorRequest, { model, isStream, failed }: Invocation): VendorAnswer {
  const { anthropic_version: version, anthropic_beta: _betas, ...fields } = request.body as Fields;
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined || version !== 'bedrock-2023-05-31') {
    return { script: failed('ValidationException', `${unknown}: Extra inputs are not permitted`) };
  }
  const [, word, late] = /"fail (\w+)( late)?"/.exec(JSON.stringify(fields['messages'])) ?? [];
  if (word !== undefined && late === undefined) {
    const isLong = word === 'too_long';
    const script = failed(
      isLong ? 'ValidationException' : word,
      isLong ? 'Input is too long for requested model.' : CANARY,
    );
    return { script };
  }
  const said = JSON.stringify({ ...fields, model, stream: isStream }).replace(/"fail \w+ late"/, '"fail cut late"');
  const headers = { ...request.headers, 'x-api-key': 'sk-ant-test', 'anthropic-version': '2023-06-01' };
  const asked = { ...request, path: '/v1/messages', headers, body: JSON.parse(said) as Fields };
  const { script, billed } = anthropic.answer(asked);
  const { status = 200, body } = script;
  if (status !== 200) return { script: failed('ValidationException', CANARY) };
  if (!Array.isArray(body)) return { script, ...(billed && { billed }) };
  const frames = eventsOf(body as readonly UpstreamStep[]).map(chunkOf);
  if (word !== undefined && word !== 'cut') frames.push(frame('exception', word, { message: CANARY }));
  return { script: { headers: STREAM, body: inOddPieces(Buffer.concat(frames)) }, ...(billed && { billed }) };
}

function eventsOf(steps: readonly UpstreamStep[]): readonly Fields[] {
  const texts = steps.map((step) => ('write' in step ? String(step.write) : ''));
  return [...texts.join('').matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Fields);
}

/** The frame of an event. That of the last one tells what the call was for AWS. */
export function chunkOf(event: Fields): Buffer {
  const told = event['type'] === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': METRICS } : event;
  return frame('event', 'chunk', { bytes: Buffer.from(JSON.stringify(told)).toString('base64'), p: 'abcdefgh' });
}
