import type { OperationObject } from '#http/openapi/open-api.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const TOKENS: Readonly<Record<string, string>> = {
  apiKey: '$API_KEY',
  session: '$SESSION_TOKEN',
  metricsToken: '$METRICS_TOKEN',
};

/** A call to paste into a shell: what an operation needs, and no more. */
export function curlOf(
  method: string,
  path: string,
  { security, parameters = [], requestBody }: OperationObject,
): string {
  const scheme = Object.keys(security[0] ?? {})[0];
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => capitals(name));
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=${capitals(name)}`)
    .join('&');
  const headers = parameters.filter((one) => one.in === 'header' && one.required).map(({ name }) => `${name}: anna`);
  const body = requestBody?.content['application/json']?.schema;
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$PURSER_URL${target}${query === '' ? '' : `?${query}`}"`,
    ...(scheme === undefined ? [] : [`-H "authorization: Bearer ${TOKENS[scheme] ?? ''}"`]),
    ...headers.map((header) => `-H '${header}'`),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d '${JSON.stringify(sampleOf(body))}'`]),
  ];
  return lines.join(' \\\n  ');
}

/** Writes `appId` as `APP_ID`, in capitals, so that it is seen to be a placeholder. */
function capitals(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** A value that fits a schema: its own example if it has one, or else the smallest value with all required fields. */
export function sampleOf(schema: JsonObject): unknown {
  const { examples, enum: choices, anyOf, oneOf, type, properties, required, items, minimum } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(choices)) return choices[0];
  if ('const' in schema) return schema['const'];
  const first: unknown = [anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []))[0];
  if (isJsonObject(first)) return sampleOf(first);
  switch (type) {
    case 'object': {
      const names: readonly unknown[] = Array.isArray(required) ? required : [];
      const fields = Object.entries(isJsonObject(properties) ? properties : {});
      return Object.fromEntries(
        fields.flatMap(([name, field]) => {
          const isShown = isJsonObject(field) && (names.includes(name) || Array.isArray(field['examples']));
          return isShown ? [[name, sampleOf(field)]] : [];
        }),
      );
    }
    case 'array':
      return Number(schema['minItems'] ?? 0) > 0 && isJsonObject(items) ? [sampleOf(items)] : [];
    case 'integer':
    case 'number':
      return minimum ?? 0;
    case 'boolean':
      return true;
    default:
      return 'text';
  }
}
