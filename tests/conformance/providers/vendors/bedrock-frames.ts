import type { UpstreamStep } from '../../../support/scripted-upstream.ts';
import { frame } from './event-stream.ts';
import { CANARY, inPieces } from './vendor.ts';

/** What ConverseStream sends. */

type Fields = Readonly<Record<string, unknown>>;

/** The frames of an answer, or of one that breaks off with an exception. */
export function streamed(
  content: readonly Fields[],
  usage: Fields,
  stopReason: string,
  error: string | undefined,
): readonly UpstreamStep[] {
  const frames = [frame('event', 'messageStart', { role: 'assistant' })];
  for (const [index, block] of content.entries()) frames.push(...blockFrames(block, index));
  if (error !== undefined && error !== 'cut') frames.push(frame('exception', error, { message: CANARY }));
  if (error === undefined) {
    frames.push(frame('event', 'messageStop', { stopReason }));
    frames.push(frame('event', 'metadata', { usage: usage, metrics: { latencyMs: 5 } }));
  }
  return inOddPieces(Buffer.concat(frames));
}

/** Cuts the bytes anywhere, so that no frame comes in one piece. */
export function inOddPieces(bytes: Buffer): readonly UpstreamStep[] {
  const steps: UpstreamStep[] = [];
  for (let at = 0; at < bytes.length; at += 301) steps.push({ write: bytes.subarray(at, at + 301) });
  return steps;
}

function blockFrames({ text, toolUse, reasoningContent }: Fields, contentBlockIndex: number): readonly Buffer[] {
  const delta = (fields: Fields): Buffer =>
    frame('event', 'contentBlockDelta', { contentBlockIndex, delta: fields, p: 'abcdefgh' });
  const stop = frame('event', 'contentBlockStop', { contentBlockIndex });
  if (text !== undefined) return [...inPieces(text).map((piece) => delta({ text: piece })), stop];
  if (toolUse !== undefined) {
    const { input, ...start } = toolUse as Fields;
    return [
      frame('event', 'contentBlockStart', { contentBlockIndex, start: { toolUse: start } }),
      ...inPieces(JSON.stringify(input)).map((piece) => delta({ toolUse: { input: piece } })),
      stop,
    ];
  }
  const { text: thought, signature } = (reasoningContent as Fields)['reasoningText'] as Fields;
  return [
    ...inPieces(thought).map((piece) => delta({ reasoningContent: { text: piece } })),
    delta({ reasoningContent: { signature } }),
    stop,
  ];
}
