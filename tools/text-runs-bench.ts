// What packages/text-runs saves: processor time for each chunk of a stream, from the provider's text to the caller's frames,
// with text runs and with every chunk parsed. `npm exec node tools/text-runs-bench.ts [--rounds 7 --streams 1500]`
import { parseArgs } from 'node:util';
import { medianOf } from '../benchmarks/measure.ts';
import { tableOf } from '../benchmarks/support/table.ts';
import type { Model, Upstream } from '../packages/service/src/catalogue/catalogue.ts';
import type { ChatCall } from '../packages/service/src/gateway/call/call.ts';
import { createStreamTally } from '../packages/service/src/gateway/stream/stream-tally.ts';
import { chatReply } from '../packages/service/src/gateway/wires/chat/chat.ts';
import { newCallId } from '../packages/service/src/kernel/values/ids.ts';
import { parseJson } from '../packages/service/src/kernel/text/json.ts';
import { micros } from '../packages/service/src/kernel/values/micros.ts';
import {
  createChunkParser,
  createChunkReader,
} from '../packages/service/src/providers/openai-compatible/chunk-reader.ts';
import type { StreamChunk } from '../packages/service/src/providers/port/provider.ts';
import { createEventReader } from '../packages/service/src/providers/transport/sse.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, streams: { type: 'string', default: '1500' } },
});
const rounds = Number(values.rounds);
const streams = Number(values.streams);
const CHUNKS = 60;

interface Reader {
  readonly feed: (text: string) => void;
  readonly take: () => readonly StreamChunk[];
}

/** Parses and checks every chunk, as the chunk reader does with those that it cannot skip. */
function createParsingReader(): Reader {
  let chunks: StreamChunk[] = [];
  const chunkOf = createChunkParser();
  const onEvent = (data: string): void => void chunks.push(chunkOf(parseJson(data)));
  const { feed } = createEventReader({ onEvent, skim: (_text, at) => at });
  const take = () => {
    const taken = chunks;
    chunks = [];
    return taken;
  };
  return { feed, take };
}

const PRICE = {
  priceId: 1n,
  inputMicrosPerMillion: 1_000_000n,
  cachedInputMicrosPerMillion: 250_000n,
  cacheWriteMicrosPerMillion: 0n,
  outputMicrosPerMillion: 4_000_000n,
  marginBasisPoints: 1_000n,
};
const UPSTREAM = { price: PRICE } as Upstream;
const CALL = {
  callId: newCallId(),
  model: {
    id: 'acme.large-1',
    minOutputTokens: 16,
    contextTokens: 128_000,
    tokenizer: 'o200k',
  } as unknown as Model,
  upstreams: [UPSTREAM],
  wantsUsage: true,
  choices: 1,
  prompt: { tokensMax: 1_000, tokensEstimated: 20, prompts: 1 },
  outputTokensAsked: 10_000,
  outputTokensMax: 10_000,
  reply: chatReply,
} as unknown as ChatCall;
const BESIDE = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'large-upstream',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
};

function eventOf(index: number, isPadded: boolean): string {
  const delta = index === 0 ? { role: 'assistant', content: '' } : { content: ` word ${index}` };
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null }];
  const padding = isPadded ? { obfuscation: 'aZ09bcdefghijk'.slice(0, index % 14) } : {};
  return `data: ${JSON.stringify({ ...BESIDE, choices, usage: null, ...padding })}\n\n`;
}

/** The text of a stream as reads of a socket bring it. */
function readsOf(isPadded: boolean, chunksPerRead: number): readonly string[] {
  const events = Array.from({ length: CHUNKS }, (_, index) => eventOf(index, isPadded));
  return Array.from({ length: CHUNKS / chunksPerRead }, (_, index) =>
    events.slice(index * chunksPerRead, (index + 1) * chunksPerRead).join(''),
  );
}

function relay(createReader: () => Reader, reads: readonly string[]): string {
  const reader = createReader();
  const tally = createStreamTally({ call: CALL, granted: micros(200_000n) }, { upstream: UPSTREAM });
  let frames = '';
  for (const text of reads) {
    reader.feed(text);
    for (const chunk of reader.take()) frames += tally.take(chunk);
  }
  return frames;
}

function microsPerChunk(createReader: () => Reader, reads: readonly string[]): number {
  const before = process.cpuUsage();
  for (let stream = 0; stream < streams; stream += 1) relay(createReader, reads);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (streams * CHUNKS);
}

const rows: (readonly string[])[] = [];
for (const isPadded of [false, true]) {
  for (const chunksPerRead of [1, 4, CHUNKS]) {
    const reads = readsOf(isPadded, chunksPerRead);
    if (relay(createChunkReader, reads) !== relay(createParsingReader, reads)) throw new Error('The frames differ.');
    const withRuns: number[] = [];
    const parsed: number[] = [];
    for (let round = -1; round < rounds; round += 1) {
      const pair = [microsPerChunk(createChunkReader, reads), microsPerChunk(createParsingReader, reads)] as const;
      if (round < 0) continue; // The first round compiles the code.
      withRuns.push(pair[0]);
      parsed.push(pair[1]);
    }
    const ratio = medianOf(withRuns.map((time, round) => time / (parsed[round] ?? Number.NaN)));
    const title = `${chunksPerRead} in each read${isPadded ? ', padded' : ''}`;
    rows.push([title, medianOf(withRuns).toFixed(2), medianOf(parsed).toFixed(2), ratio.toFixed(2)]);
  }
}
console.log(
  `Processor time for each chunk, in microseconds: medians of ${rounds} interleaved rounds of ${streams} streams`,
);
console.log(`of ${CHUNKS} chunks.\n`);
console.log(tableOf(['chunks', 'text runs', 'all parsed', 'ratio'], rows));
