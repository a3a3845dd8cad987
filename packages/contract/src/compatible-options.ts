import { z } from 'zod';
import { isSecretName } from './secret-names.ts';

/**
 * What vendors of the compatible format do differently, for an entry of the catalogue. None of it may hold a secret: the
 * catalogue is shown to operators (MO-11).
 */

const FIELDS_MAX = 32;
const VALUE_CHARACTERS_MAX = 1_024;
const EXTRA_BODY_CHARACTERS_MAX = 16_384;

/** Headers that the gateway writes itself, or that would change how the request is framed. */
const OWN_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept|accept-encoding|user-agent|cookie|forwarded|via|x-forwarded-.*|proxy-.*|traceparent|tracestate)$/;
/** Texts that begin like keys, and long ones of mixed letters and digits, which nothing else is. */
const SECRET_VALUE =
  /^(bearer|basic)\s|^(sk|pk|rk|gsk|xai|hf|ghp)[-_]\S{4,}|^(AKIA|AIza|eyJ)\w{8,}|^(?=.*\d)(?=.*[a-z])[\w+=-]{40,}$/i;

/** The names of members of JSON. */
const NAMED = /"([^"]{1,64})"\s*:/g;

const NAME_YOUR_KEY = 'name a key with `apiKey`, and its header with `authHeader`';
const NO_SECRET = `must not hold a secret: ${NAME_YOUR_KEY}`;

const value = z
  .string()
  .max(VALUE_CHARACTERS_MAX)
  .regex(/^[\x20-\x7e]*$/, { error: 'must be visible ASCII characters' })
  .refine((text) => !isSecret(text), { error: `must not look like a secret: ${NAME_YOUR_KEY}` });

/** A value may be JSON, as in Portkey's `x-portkey-config`, and hold a secret inside. */
function isSecret(text: string): boolean {
  return SECRET_VALUE.test(text) || [...text.matchAll(NAMED)].some(([, name = '']) => isSecretName(name));
}

function headerFault(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,127}$/.test(name)) return 'must be small letters, digits and `-`';
  return OWN_HEADER.test(name) ? 'must not be a header that the service writes itself' : undefined;
}

/** Names and their values. The names are checked here, because the library has no words of ours for a wrong key of a record. */
function fields(faultOf: (name: string) => string | undefined) {
  return z.record(z.string(), value).superRefine((given, context) => {
    const names = Object.keys(given);
    const complain = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (names.length > FIELDS_MAX) complain([], `must have at most ${FIELDS_MAX} fields`);
    for (const name of names) {
      const fault = isSecretName(name) ? NO_SECRET : faultOf(name);
      if (fault !== undefined) complain([name], fault);
    }
  });
}

/** What an entry must not decide for its calls: what the gateway prices and bounds, and what belongs to the caller. */
const DECIDED = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'num_predict',
  'n',
  'best_of',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'input',
  'background',
  'conversation',
  'previous_response_id',
  'max_tool_calls',
  '__proto__',
]);

function isSecretIn(name: string, member: unknown): boolean {
  if (typeof member === 'string') return isSecretName(name) || SECRET_VALUE.test(member);
  if (typeof member !== 'object' || member === null) return false;
  return Object.entries(member).some(([inner, part]) => isSecretIn(inner, part));
}

export const compatibleOptions = {
  authHeader: z
    .string()
    .superRefine((name, context) => {
      const message = headerFault(name);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .meta({
      description:
        'The header of the key. `authorization` gets it as a bearer token, and any other header gets it alone.',
    }),
  path: z
    .string()
    .max(512)
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, { error: 'must look like `/chat/completions`, without a query' })
    .refine((path) => !path.split('/').includes('..'), { error: 'must have no `..`' })
    .optional()
    .meta({ description: 'The path of the chat completions after `baseUrl`. The default is `/chat/completions`.' }),
  query: fields((name) => (name === '' ? 'must have a name' : undefined)).optional(),
  headers: fields(headerFault).optional(),
  extraBody: z
    .record(z.string().min(1).max(128), z.json())
    .superRefine((body, context) => {
      const complain = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
      for (const name of Object.keys(body)) {
        if (DECIDED.has(name)) complain([name], 'is decided by the service for each call');
        else if (isSecretIn(name, body[name])) complain([name], NO_SECRET);
      }
      if (JSON.stringify(body).length > EXTRA_BODY_CHARACTERS_MAX) {
        complain([], `must have at most ${EXTRA_BODY_CHARACTERS_MAX} characters as JSON`);
      }
    })
    .optional()
    .meta({ description: 'Members that every request gets, unless the caller sent one of the same name.' }),
  traceContext: z.boolean().optional().meta({
    description:
      'Whether the provider receives the trace of each call (`traceparent`, `tracestate`) if traces are exported. It is meant for a server of the operator’s own.',
  }),
  streamOptions: z.boolean().optional().meta({
    description:
      'False if the provider refuses `stream_options`. It must report the usage of streams anyway, or they are charged by the service’s own count.',
  }),
  developerRole: z
    .enum(['developer', 'system'])
    .optional()
    .meta({ description: 'With `system`, developer messages are sent as system messages.' }),
};
