import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../packages/service/src/http/openapi/open-api.ts';

/** Reads `/openapi.json` as it was sent. */
export function readDocument(text: string): OpenApiDocument {
  return JSON.parse(text) as OpenApiDocument;
}

export interface WholeAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export type DocumentCheck = ReturnType<typeof documentCheck>;

/** Bytes that are not an HTTP request are refused before there is a route (ER-08). */
const BELOW_ROUTES = /^(The request is not valid HTTP|`expect` must be )/;
/** The document must describe our own headers and those that clients act on. */
const TOLD = /^(x-service-|retry-after|x-should-retry|www-authenticate|ratelimit|x-ratelimit-)/;

/** Halves the time of compiling, which is longer than that of the checks. Another test holds the document to the rules of schemas. */
const QUICK = { validateSchema: false, inlineRefs: false, code: { optimize: false } } as const;

/** Compares answers with the document. */
export function documentCheck(text: string) {
  const document = readDocument(text);
  const ajv = new Ajv2020({ strict: false, allErrors: false, ...QUICK });
  addFormats.default(ajv);
  ajv.addSchema(document, 'api', undefined, false);
  const compiled = new Map<string, ValidateFunction>();
  const paths = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }));

  function faultOfValue(place: string, value: unknown): string | undefined {
    const check = compiled.get(place) ?? ajv.compile({ $ref: `api#${place}` });
    compiled.set(place, check);
    return check(value) ? undefined : `${ajv.errorsText(check.errors)} in ${JSON.stringify(value).slice(0, 500)}`;
  }

  /** Returns, among the matching templates, one that has the method. */
  function pathOf({ method, path }: WholeAnswer): string | undefined {
    if (!isReadable(path)) return undefined;
    const fitting = paths.filter(({ pattern }) => pattern.test(path)).map((one) => one.path);
    return fitting.find((one) => document.paths[one]?.[nameOf(method)] !== undefined) ?? fitting[0];
  }

  function faultOfBody(place: string, answer: WholeAnswer, types: readonly string[]): string | undefined {
    const type = typeOf(answer);
    if (types.length === 0 || answer.method === 'HEAD') return answer.text === '' ? undefined : 'it has a body';
    if (!types.includes(type)) return `its content is \`${type}\``;
    const schema = `${place}/content/${escaped(type)}/schema`;
    if (type === 'application/json') return faultOfValue(schema, JSON.parse(answer.text));
    if (type !== 'text/event-stream') return faultOfValue(schema, answer.text);
    const events = [...answer.text.matchAll(/^data: (?!\[DONE\])(.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
    return events
      .map((data: object) => faultOfValue('error' in data ? '/components/schemas/StreamError' : schema, data))
      .find((fault) => fault !== undefined);
  }

  return {
    /** Returns method and path as the document has them, or `nothing` if it has none. */
    operationOf: (answer: WholeAnswer) => {
      const path = pathOf(answer);
      return path === undefined ? 'nothing' : `${answer.method} ${path}`;
    },
    /** The differences between an answer and the document. */
    faultOf: (answer: WholeAnswer) => {
      const path = pathOf(answer);
      const { status } = answer;
      if (isBelowRoutes(answer)) return undefined;
      if (path === undefined) return faultOfUnknown(answer);
      const method = nameOf(answer.method);
      const operation = document.paths[path]?.[method];
      if (operation === undefined) return status === 405 ? undefined : 'the document has no such method';
      const response = operation.responses[status];
      if (response === undefined) return 'the document has no such status';
      const untold = Object.keys(answer.headers).find(
        (name) => TOLD.test(name) && !(name in document.components.headers),
      );
      if (untold !== undefined) return `the document does not tell of the header \`${untold}\``;
      const isNamed = '$ref' in response;
      const place = isNamed ? response.$ref.slice(1) : `/paths/${escaped(path)}/${method}/responses/${status}`;
      const { content = {} } = isNamed
        ? (document.components.responses[place.split('/').at(-1) ?? ''] ?? {})
        : response;
      return faultOfBody(place, answer, Object.keys(content));
    },
  };
}

function nameOf(method: string): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase();
}

function typeOf({ headers }: WholeAnswer): string {
  const { 'content-type': type } = headers;
  return typeof type === 'string' ? (type.split(';', 1)[0] ?? '') : '';
}

/** Pages for people are not part of the document and take some methods. Any other unknown route must not exist or be served. */
function faultOfUnknown(answer: WholeAnswer): string | undefined {
  const isNotServed = answer.status === 400 && answer.text.includes('"message":"This service has no ');
  const isNowhere = answer.status === 404 || answer.status === 405 || isNotServed;
  return isNowhere || typeOf(answer) !== 'application/json' ? undefined : 'the document has no such path';
}

function isBelowRoutes(answer: WholeAnswer): boolean {
  const { status, text } = answer;
  if (status !== 400 || typeOf(answer) !== 'application/json') return false;
  const { error } = JSON.parse(text || '{}') as { readonly error?: { readonly message?: string } };
  return BELOW_ROUTES.test(error?.message ?? '');
}

/** An address like `/v1/models/%` leads nowhere. */
function isReadable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** The name of a model may contain slashes. No other part of a path does. */
function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join(path.startsWith('/v1/models/') ? '.+' : '[^/]+')}$`);
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
