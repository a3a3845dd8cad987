import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';

/** Requests of every kind that a model without a parameter list takes: texts, images, tools, schemas. */

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('"\\"\\/', '\ud800', 'a\udfff\u0000', '漢字かな交じり文'.repeat(6), ' '.repeat(300), '\u2028\u007f'),
);
const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'e', '_'), minLength: 1, maxLength: 20 });

const imageUrl = fc.oneof(
  fc.webUrl(),
  fc.nat(300).map((length) => `https://example.test/${'a'.repeat(length)}.png`),
  fc
    .tuple(fc.constantFrom('image/png', 'IMAGE/JPEG', 'image/webp'), fc.nat(2_000), text)
    .map(([type, length, odd]) => `data:${type};base64,${'/A+9'.repeat(length)}${odd}`),
);
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: imageUrl, detail: fc.constant('high') }) }),
  // An address in an unexpected place is ordinary text.
  fc.record({ type: fc.constant('text'), text, image_url: fc.record({ url: imageUrl }) }),
);
const toolCall = fc.record({
  id: name,
  type: fc.constant('function'),
  function: fc.record({ name, arguments: text }),
});
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user', 'developer'), content: text }),
  fc.record({ role: fc.constant('user'), content: fc.array(part, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(toolCall, { maxLength: 3 }),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: name, content: text }),
);

/** Any JSON except the names that a request may not contain, which the generator likes to produce. */
const passable = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !/"(?:__proto__|prototype)"/.test(JSON.stringify(value)));
const schema = fc.oneof(
  passable,
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 30 }),
  fc.array(fc.constantFrom(1e20, -1e20), { maxLength: 100, size: 'max' }), // Four bytes as 1e20, 21 when written out.
);
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({ name, description: text, parameters: fc.record({ enum: schema }) }),
});
const responseFormat = fc.record({
  type: fc.constant('json_schema'),
  json_schema: fc.record({ name, schema: fc.record({ const: schema }) }),
});

/** The requests have no `model`. */
export const anyRequest = fc.record(
  {
    messages: fc.array(message, { minLength: 1, maxLength: 5 }),
    tools: fc.array(tool, { minLength: 1, maxLength: 4 }),
    response_format: responseFormat,
    n: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 128 })),
    max_completion_tokens: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 10_000_000 })),
    stop: text,
    metadata: fc.dictionary(name, text, { maxKeys: 4 }),
    stream: fc.boolean(),
  },
  { requiredKeys: ['messages'] },
);

/**
 * The most tokens that any tokenizer makes of a prompt: one for each byte of what the provider is sent, images apart,
 * and what each image and the provider's own frame around it may cost.
 */
export function promptTokensMost(
  sent: Readonly<Record<string, unknown>>,
  model: { readonly imageTokensMax: number; readonly promptOverheadTokens: number },
): number {
  const { model: _model, max_completion_tokens: _limit, stream: _stream, stream_options: _options, ...prompt } = sent;
  let images = 0;
  const json = JSON.stringify(prompt, function (this: unknown, key: string, value: unknown) {
    if (key !== 'image_url' || (this as { type?: unknown }).type !== 'image_url') return value;
    images += 1;
    const { url, ...rest } = value as { url: string };
    return url.toLowerCase().startsWith('data:') ? rest : value;
  });
  return Buffer.byteLength(json) + images * model.imageTokensMax + model.promptOverheadTokens;
}
