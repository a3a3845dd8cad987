import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Of how many texts a request asks for vectors. What is embedded is the content of its one message, as the caller wrote it. */
export function inputsOf({ messages }: JsonObject): number {
  const [message]: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return inputsIn(isJsonObject(message) ? message['content'] : undefined);
}

/** A text is one input, and so is a list of the numbers of its tokens. Any other list has as many as it has items. */
export function inputsIn(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}
