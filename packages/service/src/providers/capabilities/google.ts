import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { cacheMarksIn, findInMessages } from '#providers/capabilities/messages.ts';
import {
  type Capabilities,
  type Find,
  is,
  LEAVE_OUT,
  refused,
  type Rule,
  type Unsupported,
  WITHOUT_COUNTERPART,
} from '#providers/capabilities/rules.ts';
import { findInTools } from '#providers/capabilities/tools.ts';
import { effortsOf, refusesPenalties, signsCalls, thinkingOf } from '#providers/models/gemini.ts';

const SEED_MAX = 2 ** 31 - 1;

const findSeed: Find = (value) => {
  const isSeed = Number(value) >= -SEED_MAX - 1 && Number(value) <= SEED_MAX;
  return isSeed ? undefined : { path: 'seed', advice: 'Its provider takes seeds of 32 bits.' };
};

const findEffort: Find = (value, { providerModel }) => {
  if (thinkingOf(providerModel, String(value)) !== undefined) return undefined;
  const efforts = effortsOf(providerModel).map((effort) => `"${effort}"`);
  return {
    path: 'reasoning_effort',
    advice: efforts.length === 0 ? LEAVE_OUT : `This model takes ${efforts.join(', ')}.`,
  };
};

const findMessages: Find = (value, { request, providerModel }) => {
  const [mark] = cacheMarksIn(request);
  if (mark !== undefined) {
    return { path: mark[0], advice: 'Leave it out: Gemini caches by itself what prompts have in common.' };
  }
  // The older models take an image only beside the result of a tool, where it belongs to no call.
  const hasToolImages = signsCalls(providerModel);
  return findInMessages(value, { toolCallFields: ['extra_content'], hasToolImages }) ?? findBadImage(value);
};

const GIF = /^data:image\/gif/i;

function findBadImage(value: unknown): Unsupported | undefined {
  for (const [place, message] of (value as readonly JsonObject[]).entries()) {
    const parts = Array.isArray(message['content']) ? (message['content'] as readonly JsonObject[]) : [];
    const at = parts.findIndex(({ image_url: image }) => isJsonObject(image) && GIF.test(String(image['url'])));
    if (at === -1) continue;
    return {
      path: `messages[${place}].content[${at}].image_url.url`,
      advice: 'Its provider takes no GIF: send a PNG.',
    };
  }
  return undefined;
}

const FUNCTION_NAME = /^[A-Za-z_]/;

const findTools: Find = (value) => {
  const place = (value as readonly JsonObject[]).findIndex((tool) => {
    const { name } = tool['function'] as JsonObject;
    return !FUNCTION_NAME.test(String(name));
  });
  if (place === -1) return findInTools(value, () => undefined);
  return { path: `tools[${place}].function.name`, advice: 'It must begin with a letter or `_`.' };
};

/** The capabilities of kind `vertex`, Gemini's format on Vertex AI. */
export const VERTEX: Capabilities = {
  ...WITHOUT_COUNTERPART,
  frequency_penalty: { does: 'forwarded' },
  presence_penalty: { does: 'forwarded' },
  messages: {
    does: 'translated',
    words: 'system messages first; images as data, no GIF; no `name`, no cache marks',
    find: findMessages,
  },
  parallel_tool_calls: refused('parallel_tool_calls', is(true), 'unless true'),
  reasoning_effort: {
    does: 'translated',
    words:
      'to a thinking budget (Gemini 2.5) or level (from 3 on): no "none" for models that always think, no "xhigh" or "max"',
    find: findEffort,
  },
  response_format: { does: 'translated', words: 'without `name` and `strict` of a schema' },
  safety_identifier: { does: 'kept', words: 'its provider has no such field' },
  seed: { does: 'forwarded', words: '32 bits', find: findSeed },
  stop: { does: 'translated' },
  temperature: { does: 'forwarded' },
  tool_choice: { does: 'translated' },
  tools: { does: 'translated', words: 'names begin with a letter or `_`', find: findTools },
  top_p: { does: 'forwarded' },
  verbosity: refused('verbosity', is('medium'), 'unless "medium"'),
};

function penalty(name: 'frequency_penalty' | 'presence_penalty'): Rule {
  return {
    does: 'forwarded',
    words: 'not by Gemini 2.5',
    find: (value, { providerModel }) =>
      value === 0 || !refusesPenalties(providerModel) ? undefined : { path: name, advice: LEAVE_OUT },
  };
}

/** The capabilities of kind `google`, Gemini's format at the Gemini API. */
export const GOOGLE: Capabilities = {
  ...VERTEX,
  frequency_penalty: penalty('frequency_penalty'),
  presence_penalty: penalty('presence_penalty'),
};
