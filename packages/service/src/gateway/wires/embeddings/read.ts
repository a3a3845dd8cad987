import type { Fitted, ModelSupport, WireRequest } from '#gateway/call/wire.ts';
import { misshapen, shownOf } from '#gateway/body/parse-body.ts';
import { PARAMETERS } from '#gateway/wires/embeddings/parameters.ts';
import { createReply, type Encoding } from '#gateway/wires/embeddings/reply.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { inputsIn } from '#providers/embeddings/inputs.ts';
import { ANSWER_BYTES_MAX } from '#providers/port/provider.ts';

/**
 * Reads a body of `POST /v1/embeddings`. In the form of chat completions it is one message whose content is the input as it came, so
 * that its size and its words are found as those of any prompt.
 */
export function readRequest(body: JsonObject): WireRequest | Refusal<'BAD_REQUEST'> {
  const { model, input, user: _user, model: _model, ...settings } = body;
  if (typeof model !== 'string' || model === '') {
    return refuse('BAD_REQUEST', '`model` must be the name of a model: see `GET /v1/models`.', { param: 'model' });
  }
  const bad = findBadParameter(body);
  if (bad !== undefined) return bad;
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const encoding: Encoding = given['encoding_format'] === 'base64' ? 'base64' : 'float';
  const fitted: Fitted = {
    request: { model, messages: [{ role: 'user', content: input }] },
    native: { input, ...given },
    prompts: inputsIn(input),
    leftOut: [],
  };
  return {
    model,
    isStream: false,
    fit: (supports) => findUnfit(fitted, encoding, supports) ?? fitted,
    nameOf: (path) => (path === 'messages' || path.startsWith('messages[') ? 'input' : path),
    reply: createReply(encoding),
  };
}

function findBadParameter(body: JsonObject): Refusal<'BAD_REQUEST'> | undefined {
  for (const name of Object.keys(body)) {
    if (name === 'model') continue;
    const values = PARAMETERS.get(name);
    if (values === undefined) return refuseUnknown(name);
    const fault = body[name] === null ? undefined : values.faultOf(body[name], name);
    if (fault !== undefined) return misshapen(fault);
  }
  const { input = null } = body;
  return input === null ? misshapen(PARAMETERS.get('input')?.faultOf(undefined, 'input') ?? NO_INPUT) : undefined;
}

const NO_INPUT = { path: 'input', expects: 'a text' };

function refuseUnknown(name: string): Refusal<'BAD_REQUEST'> {
  const list = ['model', ...PARAMETERS.keys()].map((one) => `\`${one}\``).join(', ');
  const param = shownOf(name);
  return refuse('BAD_REQUEST', `\`${param}\` is not a supported parameter. Supported: ${list}.`, { param });
}

/** The most bytes of a number in an answer. As JSON it has at most 24 digits, and some providers give each a line of its own. */
const BYTES_OF_NUMBER = { float: 36, base64: 16 / 3 };
/** The bytes of a vector beside its numbers, and of an answer beside its vectors. */
const BYTES_OF_VECTOR = 256;
const BESIDE_BYTES = 64 * 1024;

/** Refuses what the model cannot give, and a batch whose answer could not be taken: the provider would bill it all the same. */
function findUnfit(
  { native = {}, prompts = 1 }: Fitted,
  encoding: Encoding,
  { dimensionsMax = 1 }: ModelSupport,
): Refusal<'BAD_REQUEST'> | undefined {
  const dimensions = typeof native['dimensions'] === 'number' ? native['dimensions'] : dimensionsMax;
  if (dimensions > dimensionsMax) {
    return misshapen({ path: 'dimensions', expects: `at most ${dimensionsMax}: this model has no longer vectors` });
  }
  const ofVector = dimensions * BYTES_OF_NUMBER[encoding] + BYTES_OF_VECTOR;
  const most = Math.max(1, Math.floor((ANSWER_BYTES_MAX - BESIDE_BYTES) / ofVector));
  if (prompts <= most) return undefined;
  const hint = encoding === 'base64' ? '' : ', or ask for `"encoding_format": "base64"`';
  return refuse(
    'BAD_REQUEST',
    `\`input\` must be at most ${most} texts: ${prompts} vectors of ${dimensions} numbers may be too large for one answer. Send smaller batches${hint}.`,
    { param: 'input' },
  );
}
