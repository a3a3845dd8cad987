import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { Model } from '../../packages/service/src/catalogue/catalogue.ts';
import { chargeOf, type Price } from '../../packages/service/src/catalogue/price.ts';
import { acceptedBy } from '../../packages/service/src/gateway/parameters/parameters.ts';
import {
  holdRequestOf,
  measurePrompt,
  outputTokensWithin,
  providerCallOf,
} from '../../packages/service/src/gateway/usage/hold-request.ts';
import type { AskingCall } from '../../packages/service/src/gateway/call/call.ts';
import { parseBody } from '../../packages/service/src/gateway/body/parse-body.ts';
import { createPseudonyms } from '../../packages/service/src/gateway/request/pseudonyms.ts';
import { callOf, checkModelParameters, checkShape } from '../../packages/service/src/gateway/request/validate-call.ts';
import {
  type EndUserId,
  newAccountId,
  newAppId,
  newCorrelationId,
  newKeyId,
} from '../../packages/service/src/kernel/values/ids.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { MICROS_MAX, type Micros, micros } from '../../packages/service/src/kernel/values/micros.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { chatReply } from '../../packages/service/src/gateway/wires/chat/chat.ts';
import { createToRequest } from '../../packages/service/src/providers/openai-compatible/to-request.ts';
import { anyRequest, promptTokensMost } from '../support/any-request.ts';
import { COMPLETIONS, send } from '../support/client.ts';
import { keysOf } from '../support/keys.ts';
import { oddJson } from './odd-json.ts';
import { type Bill, billNamed } from '../support/receipts.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const RUNS = 1_500;
const SHRINK_MS_MAX = 60_000; // After that, the smallest counterexample found so far is reported.
const MODELS = 12;
const CALLS = 8 * MODELS; // Each model with each kind of balance, twice.

after(() => {
  console.log(`${RUNS} holds and ${CALLS} calls, seed ${seed}`);
});

const perMillion = fc.oneof(fc.constant(0), fc.nat(100), fc.nat(20_000_000), fc.integer({ min: 0, max: 1e12 }));
const anyModel = fc.record({
  input: perMillion,
  cached: perMillion,
  cacheWrite: perMillion,
  output: perMillion,
  margin: fc.oneof(fc.constant(0), fc.nat(5_000), fc.nat(1_000_000)),
  maxOutputTokens: fc.oneof(fc.integer({ min: 16, max: 10_000 }), fc.integer({ min: 16, max: 10_000_000 })),
  minOutputTokens: fc.integer({ min: 1, max: 16 }),
  promptOverheadTokens: fc.constantFrom(0, 512, 10_000),
  imageTokensMax: fc.integer({ min: 1, max: 5_000 }),
  contextTokens: fc.constantFrom<number>(2_000, 100_000, 100_000_000),
});
type AnyModel = typeof anyModel extends fc.Arbitrary<infer Value> ? Value : never;

function modelOf({ input, cached, cacheWrite, output, margin, ...rest }: AnyModel): Model {
  return {
    id: 'acme.any-1',
    dimensionsMax: undefined,
    upstreams: [
      {
        providerName: 'upstream',
        firstByteMs: undefined,
        weight: undefined,
        provider: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', onAbandon: 'cancel' },
        providerModel: 'any',
        apis: ['chat'],
        isReasoning: false,
        price: {
          priceId: 1n,
          inputMicrosPerMillion: BigInt(input),
          cachedInputMicrosPerMillion: BigInt(cached),
          cacheWriteMicrosPerMillion: BigInt(cacheWrite),
          outputMicrosPerMillion: BigInt(output),
          marginBasisPoints: BigInt(margin),
        },
        outputLimitParameter: 'max_completion_tokens',
        onAbandon: 'cancel',
        timeoutMs: 60_000,
      },
    ],
    resale: 'open',
    isServed: true,
    defaultOutputTokens: rest.maxOutputTokens,
    parameters: undefined,
    tokenizer: 'o200k',
    timeoutMs: 60_000,
    ...rest,
  };
}

const limits = { ratePerMinute: 1, rateBurst: 1, maxStreamsPerUser: 1, maxCallsPerUser: 1, maxCallsPerApp: 1 };
const pseudonyms = createPseudonyms(keysOf(Buffer.alloc(32)));
const keyId = newKeyId();
const key = { line: keyId, models: null, rate: null, budget: undefined, allowsAddress: undefined };
const app = { appId: newAppId(), accountId: newAccountId(), isSuspended: false, isFirstParty: true, limits };

/** Turns a body into a call with every gateway step that may refuse it. */
function admitted(body: string, model: Model): AskingCall {
  const bytes = Buffer.from(body);
  const request = parseBody(bytes);
  assert.ok(!(request instanceof Refusal));
  const measured = measurePrompt(request, acceptedBy(model.parameters));
  const refused = checkShape(request) ?? checkModelParameters(request, model, { nameOf: String, measured });
  assert.equal(refused?.message, undefined);
  return callOf({ request, leftOut: [] }, model, {
    wire: 'chat',
    asking: { isStream: request['stream'] === true, reply: chatReply },
    caller: { app, keyId, mode: 'live', boundUser: null, joinSeconds: null, key },
    userId: 'anna' as EndUserId,
    correlationId: newCorrelationId(),
    span: undefined,
    session: undefined,
    pseudonyms,
    upstreams: model.upstreams,
    idempotencyKey: undefined,
    measured,
  });
}

/** The highest price a provider can report for the prompt: all of it new, all from its cache, or all written to it. */
function dearestCharge(price: Price, promptTokens: number, completionTokens: number): Micros {
  const usage = { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const charges = [
    chargeOf(price, usage),
    chargeOf(price, { ...usage, cachedTokens: promptTokens }),
    chargeOf(price, { ...usage, cacheWriteTokens: promptTokens }),
  ];
  return charges.reduce((most, one) => (one > most ? one : most));
}

/** The longest prompt that the context has room for, with the answer that is left, and the other way round. */
function whatFits(prompt: number, output: number, context: number) {
  const longest = Math.min(prompt, context);
  const most = Math.min(output, context);
  return [
    { prompt: longest, output: Math.min(most, context - longest) },
    { prompt: Math.min(longest, context - most), output: most },
  ];
}

test('WA-07 no call costs more than its hold at any prices', () => {
  fc.assert(
    fc.property(
      anyModel,
      anyRequest,
      fc.nat(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (any, request, odd, share) => {
        const model = modelOf(any);
        const asking = admitted(oddJson({ model: 'any', ...request }, odd), model);
        const { call } = asking;
        // However it is written, it is the same prompt.
        assert.deepEqual(admitted(JSON.stringify({ model: 'any', ...request }), model).call.prompt, call.prompt);
        assert.ok(call.prompt.tokensEstimated <= call.prompt.tokensMax);
        const { least, most } = holdRequestOf(call);
        const part = micros(least + (BigInt(Math.floor(share * 1e6)) * (most - least)) / 1_000_000n);
        for (const granted of [least, part, most]) {
          const outputTokens = outputTokensWithin(call, granted);
          const [upstream] = call.upstreams;
          const sent = providerCallOf(asking.asked, { upstream, outputTokens, timeoutMs: upstream.timeoutMs });
          const prompt = promptTokensMost(JSON.parse(createToRequest()(sent, call.isStream)) as JsonObject, any);
          assert.ok(
            sent.outputTokens >= Math.min(model.minOutputTokens, call.outputTokensMax),
            'the floor is affordable',
          );
          for (const fits of whatFits(prompt, sent.outputTokens, model.contextTokens)) {
            const charge = dearestCharge(model.upstreams[0].price, fits.prompt, fits.output * call.choices);
            assert.ok(charge <= granted);
          }
        }
        // No wallet has more than the largest amount, and a higher cost is cut down to it.
        if (most < MICROS_MAX) assert.equal(outputTokensWithin(call, most), call.outputTokensMax);
      },
    ),
    { numRuns: RUNS, seed, interruptAfterTimeLimit: SHRINK_MS_MAX },
  );
});

// The provider of these calls uses every token, so the context has room for all.
const models = fc
  .sample(anyModel, { numRuns: MODELS, seed })
  .map((any) => ({ ...any, contextTokens: 10_000_000, maxOutputTokens: Math.min(any.maxOutputTokens, 9_000_000) }));
const {
  upstream,
  service,
  app: testApp,
} = await setStage({
  catalogue: ({ providers }) => ({
    providers,
    models: models.map(({ input, cached, cacheWrite, output, margin, ...rest }, index) => ({
      id: `acme.any-${index}`,
      provider: 'upstream',
      providerModel: `any-${index}`,
      resale: 'open',
      price: {
        inputMicrosPerMillion: input,
        cachedInputMicrosPerMillion: cached,
        outputMicrosPerMillion: output,
      },
      cacheWriteMicrosPerMillion: cacheWrite,
      free: input + cached + cacheWrite + output === 0,
      marginBasisPoints: margin,
      timeoutMs: 5_000,
      outputLimitParameter: 'max_completion_tokens',
      ...rest,
    })),
  }),
});

/** A provider that counts as many prompt tokens as possible and generates as many as it may. */
function useEverything(any: AnyModel): void {
  upstream.script(({ body }) => {
    const sent = body as Record<string, unknown>;
    const { n = 1, max_completion_tokens: limit, stream } = sent as Record<string, number>;
    const [prompt, completion] = [promptTokensMost(sent, any), Number(limit) * n];
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    const facts = { model: 'any', usage };
    if (stream) return { body: streamSteps({ ...facts, pieces: ['Hi.'], includeUsageChunk: true }) };
    return { body: completionBody({ ...facts, content: 'Hi.' }) };
  });
}

test('WA-07 over HTTP a hold covers every token', async () => {
  const requests = fc.sample(fc.tuple(anyRequest, fc.nat()), { numRuns: CALLS, seed });
  const seen = { answered: 0, refused: 0, lowered: 0 };
  for (const [index, [request, odd]] of requests.entries()) {
    const any = models[index % MODELS];
    assert.ok(any !== undefined);
    const user = `user-${index}`;
    const body = oddJson({ model: `acme.any-${index % MODELS}`, ...request }, odd);
    const { least, most } = holdRequestOf(admitted(body, modelOf(any)).call);
    const balance = Number([most, least + (most - least) / 3n, least, least - 1n][Math.floor(index / MODELS) % 4]);
    await service.fund(testApp, user, balance);
    useEverything(any);
    const headers = { 'x-correlation-id': user };
    const reply = await send(COMPLETIONS, { url: service.url, key: testApp.liveKey, user, body, headers });
    assert.equal(reply.status, balance < least ? 402 : 200, reply.text);
    if (reply.status === 402) {
      seen.refused += 1;
      continue;
    }
    seen.answered += 1;
    if (reply.headers.has('x-service-max-output-tokens')) seen.lowered += 1;
    const bill = await waitUntil<Bill>('it is settled', () => billNamed(service.database, user));
    const { prompt, completion } = bill.tokens;
    const usage = {
      promptTokens: prompt,
      completionTokens: completion,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    };
    const cost = Number(chargeOf(modelOf(any).upstreams[0].price, usage));
    assert.deepEqual([bill.charged, bill.isEstimated, bill.isClamped], [cost, false, false]);
    assert.ok(bill.charged <= bill.held && bill.held <= balance);
  }
  assert.deepEqual([seen.answered, seen.refused], [(CALLS * 3) / 4, CALLS / 4]);
  assert.ok(seen.lowered > 0);
  assert.deepEqual(await service.check(), []);
});
