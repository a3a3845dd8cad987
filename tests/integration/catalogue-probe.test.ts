import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { parseCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { answerOf, GOOD_SERVER } from '../support/probed-server.ts';
import { foundIn, probeBy, PROBED_MODEL, proposedIn, setProbing } from '../support/probing.ts';
import { completionBody, frame, type NextScript } from '../support/scripted-upstream.ts';

/** The tests run `purser catalogue probe` on servers that behave, ignore the limit, report no usage, or do not answer. */

const { folder, upstream, ours, run } = await setProbing();
let first = 0;
afterEach(() => void (first = upstream.requests.length));

test('MO-13 the probe sends nothing without --yes', async (t) => {
  const { status, said } = await run(t, []);
  // 12 questions of 300 tokens; four limits of 24 and seven of 512, or eleven answers of 4,000; and two answers of 24 in one.
  assert.match(
    said,
    /at most 12 calls\.\n.*at most 0\.011056 EUR if .* honours[^]*at most 0\.091696 EUR if it ignores/,
  );
  assert.deepEqual([status, upstream.requests.length], [0, first]);
  assert.match((await run(t, [], { price: undefined })).said, /not known: the entry has no price/);
});

test('MO-13 the probe of an alias names its model', async (t) => {
  const file = path.join(folder, 'alias.json');
  writeFileSync(
    file,
    JSON.stringify({ providers: { ours: ours }, models: [PROBED_MODEL], aliases: { small: PROBED_MODEL.id } }),
  );
  await assert.rejects(
    probeBy(t, file, 'small'),
    /no model `small`\. It is an alias: name the model, `acme\.small`\.$/,
  );
  await assert.rejects(probeBy(t, file, 'large'), /no model `large`\.$/);
});

test('MO-13 a good server needs only a smaller context', async (t) => {
  upstream.script(answerOf(GOOD_SERVER));
  const { status, said } = await run(t, ['--yes']);
  assert.equal(status, 0);
  assert.deepEqual(foundIn(said), {
    'chat completions': 'yes: it answers',
    Responses: 'no: it serves none for this model (404)',
    'output limit by max_completion_tokens': 'yes: the answer was cut, with the finish reason `length`',
    'output limit by max_tokens': 'yes: the answer was cut, with the finish reason `length`',
    'usage in plain answers': 'yes: prompt, completion, total',
    'usage of two choices': 'yes: 48 tokens for two answers',
    streams: 'yes: the finish reason is `stop`',
    'usage in streams': 'yes: prompt, completion, total',
    tools: 'yes: the finish reason is `tool_calls`',
    'JSON schema': 'yes: the answer fits the schema',
    'developer role': 'yes: it is obeyed',
    'context size': "yes: the server's list of models says 8192 tokens",
  });
  assert.deepEqual(proposedIn(said), { ...PROBED_MODEL, contextTokens: 8_192 });
  const sent = upstream.requests.slice(first);
  assert.equal(sent.length, 10); // Nine calls, and the list of models.
  assert.ok(sent.every(({ headers }) => headers.authorization === 'Bearer key-of-ours'));
});

test('MO-13 the probe says which interfaces an upstream serves', async (t) => {
  const small = { contextTokens: 8_000 };
  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['responses'] }));
  const alone = await run(t, ['--yes'], small);
  assert.equal(alone.status, 0, alone.said);
  const { 'chat completions': chat, Responses: responses, tools, streams } = foundIn(alone.said);
  assert.deepEqual(
    [chat, responses, tools?.slice(0, 3), streams?.slice(0, 3)],
    ['no: it serves none for this model (404)', 'yes: it answers', 'yes', 'yes'],
  );
  assert.deepEqual(proposedIn(alone.said), { ...PROBED_MODEL, ...small, apis: ['responses'] });

  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['chat', 'responses'] }));
  assert.deepEqual(proposedIn((await run(t, ['--yes'], small)).said)['apis'], ['chat', 'responses']);
  const known = await run(t, ['--yes'], { ...small, apis: ['responses', 'chat'] });
  assert.match(known.said, /The entry needs no change/);
});

test('MO-13 a model that takes tools by Responses alone keeps them', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, apis: ['chat', 'responses'], hasToolsElsewhere: true }));
  const { said } = await run(t, ['--yes'], { contextTokens: 8_000 });
  assert.equal(foundIn(said)['tools'], 'yes: by Responses alone');
  assert.deepEqual(proposedIn(said), { ...PROBED_MODEL, contextTokens: 8_000, apis: ['responses'] });
});

test('MO-13 a server that ignores `max_completion_tokens` gets `max_tokens` proposed', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, limits: ['max_tokens'] }));
  const { said } = await run(t, ['--yes'], { outputLimitParameter: 'max_completion_tokens', contextTokens: 8_000 });
  assert.match(
    foundIn(said)['output limit by max_completion_tokens'] ?? '',
    /^no: it is ignored: 200 tokens for a limit of 24/,
  );
  assert.equal(proposedIn(said)['outputLimitParameter'], 'max_tokens');
  upstream.script(answerOf({ ...GOOD_SERVER, limits: [] }));
  const none = await run(t, ['--yes'], { contextTokens: 8_000 });
  assert.match(none.said, /! No output limit is certain to be honoured/);
  assert.match(none.said, /The entry needs no change/);
});

test('MO-13 a server that counts one of two choices gets no `n`', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, countsOneChoice: true }));
  const { said } = await run(t, ['--yes'], { contextTokens: 8_000, parameters: ['n', 'temperature'] });
  assert.equal(foundIn(said)['usage of two choices'], 'no: it counts one answer: 24 tokens for two of 24');
  assert.doesNotMatch(said, /The entry needs no change/);
  assert.deepEqual(proposedIn(said)['parameters'], ['temperature']);
});

test('MO-13 a server without common features gets a fitting entry', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, reportsUsage: false, isOld: true }));
  const { said } = await run(t, ['--yes'], {
    contextTokens: 8_000,
    parameters: ['tools', 'temperature', 'response_format'],
  });
  const { 'output limit by max_tokens': limit, ...others } = foundIn(said);
  assert.match(limit ?? '', /^yes/);
  assert.deepEqual(
    Object.entries(others).flatMap(([what, words]) => (words.startsWith('no') ? [`${what}: ${words.slice(4)}`] : [])),
    [
      'Responses: it serves none for this model (404)',
      'usage in plain answers: Purser would count the tokens itself',
      'stream_options: a stream is rejected with it, and answered without it',
      'usage in streams: Purser would count the tokens itself',
      'tools: the upstream rejects it (400)',
      'JSON schema: it is ignored: the answer does not fit the schema',
      'developer role: it is accepted, but not obeyed as a system message is',
    ],
  );
  const { providers } = proposedIn(said, 0) as { readonly providers: Readonly<Record<string, JsonObject>> };
  assert.deepEqual([providers['ours']?.['streamOptions'], providers['ours']?.['developerRole']], [false, 'system']);
  assert.deepEqual(proposedIn(said, 1)['parameters'], ['temperature']);
  assert.doesNotMatch(said, /CANARY/);
});

test('MO-13 a proposal that drops parameters changes nothing else', async (t) => {
  upstream.script(answerOf({ ...GOOD_SERVER, isOld: true }));
  const proposal = async (changes: JsonObject) =>
    proposedIn((await run(t, ['--yes'], { contextTokens: 8_000, onAbandon: 'cancel', ...changes })).said);
  for (const [changes, vendors] of [
    [{}, []],
    [{ parameters: ['*', 'top_k'] }, ['top_k']],
  ] as const) {
    const proposed = await proposal(changes);
    parseCatalogueFile(JSON.stringify({ providers: { ours: ours }, models: [proposed] }));
    const { parameters, reasonsOutOfSight } = proposed as Readonly<Record<string, readonly string[]>>;
    assert.equal(reasonsOutOfSight, false);
    assert.deepEqual(
      parameters?.filter((name) => /^(\*|tools|response_format|safety_identifier|top_k)$/.test(name)),
      vendors,
    );
    assert.ok(parameters?.includes('reasoning_effort') && parameters.includes('temperature'));
  }
  const drained = await proposal({
    onAbandon: 'drain',
    parameters: ['reasoning_effort', 'tools', 'safety_identifier'],
  });
  assert.deepEqual(drained['parameters'], ['reasoning_effort', 'safety_identifier']);
  assert.ok(!('reasonsOutOfSight' in drained));
});

test('MO-13 an unclear result changes nothing', async (t) => {
  const usual = answerOf({ ...GOOD_SERVER, obeys: false });
  upstream.script((request) => {
    const asked = request.body as JsonObject | undefined;
    if (asked?.['max_tokens'] === 24) return { body: completionBody({ model: 'small', content: 'No.' }) };
    return asked?.['response_format'] === undefined ? usual(request) : { status: 500, body: '{}' };
  });
  const { said } = await run(t, ['--yes'], { contextTokens: 8_000 });
  assert.match(foundIn(said)['output limit by max_tokens'] ?? '', /^unclear: the answer ended by itself/);
  assert.match(foundIn(said)['output limit by max_completion_tokens'] ?? '', /^yes/);
  assert.match(
    foundIn(said)['developer role'] ?? '',
    /^unclear: it is accepted, but the model obeys no system message/,
  );
  assert.match(foundIn(said)['JSON schema'] ?? '', /^unclear: the upstream fails \(500\)/);
  assert.match(said, /The entry needs no change/);
});

test('MO-13 filling the context reveals a silently cut prompt', async (t) => {
  const usual = answerOf(GOOD_SERVER);
  upstream.script((request) => {
    if (request.rawBody.length < 30_000) return usual(request);
    const usage = { prompt_tokens: 4_096, completion_tokens: 1, total_tokens: 4_097 };
    return { body: completionBody({ model: 'small', content: 'a', usage }) };
  });
  const { said } = await run(t, ['--yes', '--fill-context'], { contextTokens: 16_000 });
  assert.match(foundIn(said)['too long a prompt'] ?? '', /^no: the prompt was cut to 4096 tokens without an error/);
});

test('MO-13 each way an upstream fails is told apart', async (t) => {
  const failing = async (script: NextScript) => {
    upstream.script(script);
    const { status, said } = await run(t, ['--yes']);
    assert.equal(status, 1);
    return /Not probed\. (.*)/.exec(said)?.[1] ?? '';
  };
  assert.match(await failing({ status: 401, body: '{}' }), /refused the key \(401\)/);
  assert.match(
    await failing({ status: 429, headers: { 'retry-after': '7' }, body: '{}' }),
    /throttles .*\(429\)\. Wait 7 s/,
  );
  const usual = answerOf(GOOD_SERVER);
  const begun = upstream.requests.length;
  const later = await failing((request, index) => (index < begun + 3 ? usual(request) : { status: 429, body: '{}' }));
  assert.match(later, /throttles calls \(429\)\. Wait, then/);
  assert.match(await failing({ status: 503, body: '{}' }), /fails \(503\)/);
  assert.match(await failing({ status: 404, body: '{}' }), /rejects even the simplest call \(404\).*name of the model/);
  assert.match(await failing({ body: [{ destroy: true }] }), /cannot be reached/);
  assert.match(await failing({ body: [{ write: frame('no completion') }] }), /did not answer the simplest call/);
});

test('MO-13 MO-09 a native kind is probed in its format', async (t) => {
  const usage = { input_tokens: 20, output_tokens: 3 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-3-haiku', stop_sequence: null };
  const events: readonly JsonObject[] = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'one two three' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
  upstream.script(({ body }) => {
    const { stream, max_tokens: limit, tools } = body as JsonObject;
    if (stream === true) {
      return { body: events.map((event) => ({ write: `event: ${String(event['type'])}\n${frame(event)}` })) };
    }
    const isCut = limit === 24;
    const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } };
    const content = tools === undefined ? [{ type: 'text', text: isCut ? '1 2 3' : 'PINEAPPLE' }] : [call];
    const stop_reason = isCut ? 'max_tokens' : tools === undefined ? 'end_turn' : 'tool_use';
    return {
      body: JSON.stringify({
        ...message,
        content,
        stop_reason,
        usage: isCut ? { ...usage, output_tokens: 24 } : usage,
      }),
    };
  });
  const ours = { kind: 'anthropic', baseUrl: upstream.baseUrl, apiKeyEnv: 'OURS_API_KEY' };
  const { status, said } = await run(t, ['--yes'], { providerModel: 'claude-3-haiku' }, ours);
  assert.equal(status, 0, said);
  assert.match(said, /at most 7 calls/);
  const { 'JSON schema': schema, ...others } = foundIn(said);
  assert.match(
    schema ?? '',
    /^no: the format of this kind of provider has no word for `response_format`\. Make the model call a tool/,
  );
  assert.deepEqual(
    Object.entries(others).map(([what, words]) => `${what} ${/^\w+/.exec(words)?.[0]}`),
    [
      'output limit by max_tokens yes',
      'usage in plain answers yes',
      'streams yes',
      'usage in streams yes',
      'tools yes',
      'developer role yes',
      'context size unclear',
    ],
  );
  assert.ok(!(proposedIn(said)['parameters'] as readonly string[]).includes('response_format'));
});
