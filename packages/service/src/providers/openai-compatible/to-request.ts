import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/** Writes the body of a provider's request. */
export type ToRequest = (call: ProviderCall, isStream: boolean) => string;

/** What an entry of the catalogue changes about the body. Without any of it, the gateway's text is sent as it is. */
interface BodySettings {
  /** If it is false, the provider does not know `stream_options`. */
  readonly streamOptions?: boolean | undefined;
  /** The role by which the provider knows developer messages. */
  readonly developerRole?: 'developer' | 'system' | undefined;
  /** Members that every request has unless the caller sent one of the same name. */
  readonly extraBody?: JsonObject | undefined;
}

const STREAM = ',"stream":true';
// A stream that reports no usage is charged by the gateway's own estimate, so usage is asked for wherever that is known.
const USAGE = ',"stream_options":{"include_usage":true}';

/**
 * The body of the provider's request: our model name and output limit, then what the gateway passes on. Joined as text, because
 * the request may be a megabyte and has been written as JSON once, to measure it.
 */
export function createToRequest(settings: BodySettings = {}): ToRequest {
  const { streamOptions = true, developerRole = 'developer', extraBody = {} } = settings;
  const streamWords = STREAM + (streamOptions ? USAGE : '');
  const extras = Object.entries(extraBody).map(
    ([name, value]) => [name, `,"${name}":${JSON.stringify(value)}`] as const,
  );
  return (call, isStream) => {
    const { providerModel, outputLimitParameter, outputTokens, request } = call;
    let ours = `{"model":${JSON.stringify(providerModel)},"${outputLimitParameter}":${outputTokens}`;
    if (isStream) ours += streamWords;
    for (const [name, text] of extras) if (!Object.hasOwn(request, name)) ours += text;
    const requestText = developerRole === 'developer' ? call.requestText : withSystemMessages(call);
    return ours + (requestText === '{}' ? '}' : `,${requestText.slice(1)}`);
  };
}

/**
 * Returns the text of the request with its developer messages changed. Most requests have none, and keep their text.
 */
function withSystemMessages({ request, requestText }: ProviderCall): string {
  const { messages } = request;
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return requestText;
  const system = messages.map((message: unknown) =>
    isDeveloper(message) ? { ...(message as JsonObject), role: 'system' } : message,
  );
  return JSON.stringify({ ...(JSON.parse(requestText) as JsonObject), messages: system });
}

function isDeveloper(message: unknown): boolean {
  return isJsonObject(message) && message['role'] === 'developer';
}
