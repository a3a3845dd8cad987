// What the Gemini API refuses of a request, by its documentation. It names each fault as Google does.
import { invalidArgument, type GoogleError, type Json } from './wire.ts';

/** A fault of the request, thrown through the checks. */
class Refused extends Error {}

function refuse(message: string): never {
  throw new Refused(message);
}

/** The fields of each message. Google's JSON refuses any other name. */
const FIELDS = {
  request: 'contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent',
  content: 'role parts',
  part: 'text thought thoughtSignature inlineData functionCall functionResponse',
  tool: 'functionDeclarations',
  declaration: 'name description parameters parametersJsonSchema',
  functionCall: 'name args',
  functionResponse: 'name response parts',
  toolConfig: 'functionCallingConfig',
  callingConfig: 'mode allowedFunctionNames',
  config:
    'maxOutputTokens temperature topP topK stopSequences seed candidateCount presencePenalty frequencyPenalty ' +
    'responseMimeType responseSchema responseJsonSchema responseModalities thinkingConfig',
  thinking: 'thinkingBudget thinkingLevel includeThoughts',
  blob: 'mimeType data',
} as const;

/** `id` of a function call is a field of the Gemini API. Vertex matches calls by their order. */
const IDS_OF_GEMINI = new Set(['functionCall', 'functionResponse']);

export interface RequestRules {
  readonly model: string;
  readonly isVertex: boolean;
  /** Whether the server has given this thought signature to anybody. */
  readonly isSigned: (signature: string) => boolean;
}

/** The error for a request that Google would refuse; undefined for a valid one. */
export function findFault(body: unknown, rules: RequestRules): GoogleError | undefined {
  try {
    check(body, rules);
    return undefined;
  } catch (fault) {
    if (fault instanceof Refused) return invalidArgument(fault.message);
    throw fault;
  }
}

function check(body: unknown, rules: RequestRules): void {
  const message = (value: unknown, kind: keyof typeof FIELDS, at: string): Json => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(`Invalid value at '${at}'.`);
    const known = FIELDS[kind].split(' ');
    if (!rules.isVertex && IDS_OF_GEMINI.has(kind)) known.push('id');
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      refuse(`Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`);
    }
    return value as Json;
  };
  const request = message(body, 'request', '');
  checkTools(request, message);
  if (request['generationConfig'] !== undefined) {
    checkConfig(message(request['generationConfig'], 'config', 'generation_config'), message, rules);
  }
  const instruction = request['systemInstruction'];
  if (instruction !== undefined) {
    for (const part of list(message(instruction, 'content', 'system_instruction')['parts'])) {
      if (typeof message(part, 'part', 'system_instruction.parts')['text'] !== 'string') {
        refuse('System instruction must be text.');
      }
    }
  }
  checkContents(
    list(request['contents']).map((content) => message(content, 'content', 'contents')),
    message,
    rules,
  );
}

type Message = (value: unknown, kind: keyof typeof FIELDS, at: string) => Json;

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

function checkTools(request: Json, message: Message): void {
  const names = new Set<unknown>();
  for (const entry of list(request['tools'])) {
    for (const declaration of list(message(entry, 'tool', 'tools')['functionDeclarations'])) {
      const { name, parameters, parametersJsonSchema } = message(declaration, 'declaration', 'function_declarations');
      if (typeof name !== 'string' || !NAME.test(name)) refuse('Invalid function name. Must start with a letter.');
      if (names.has(name)) refuse(`Duplicate function declaration found: ${name}`);
      if (parameters !== undefined && parametersJsonSchema !== undefined) refuse('Only one schema may be set.');
      names.add(name);
    }
  }
  if (request['toolConfig'] === undefined) return;
  const { functionCallingConfig } = message(request['toolConfig'], 'toolConfig', 'tool_config');
  const { mode, allowedFunctionNames } = message(functionCallingConfig, 'callingConfig', 'function_calling_config');
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(mode as string)) refuse('Invalid function calling mode.');
  if (allowedFunctionNames === undefined) return;
  if (mode !== 'ANY' && mode !== 'VALIDATED') refuse('Allowed function names need the mode ANY or VALIDATED.');
  for (const name of list(allowedFunctionNames)) if (!names.has(name)) refuse('Allowed function is not declared.');
}

/** The numbers of `generationConfig`, each with its range. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number, isWhole: boolean]>> = {
  maxOutputTokens: [1, 65_536, true],
  temperature: [0, 2, false],
  topP: [0, 1, false],
  topK: [1, 1_000, true],
  seed: [-(2 ** 31), 2 ** 31 - 1, true],
  candidateCount: [1, 8, true],
  presencePenalty: [-2, 2, false],
  frequencyPenalty: [-2, 2, false],
};

function checkConfig(config: Json, message: Message, { model, isVertex }: RequestRules): void {
  for (const [name, [least, most, isWhole]] of Object.entries(RANGES)) {
    const value = config[name];
    if (value === undefined) continue;
    const isNumber = typeof value === 'number' && (!isWhole || Number.isInteger(value));
    if (!isNumber || value < least || value > most) refuse(`Invalid value at 'generation_config.${name}'.`);
  }
  if (list(config['stopSequences']).length > 5) refuse('The number of stop sequences must not exceed 5.');
  const hasPenalty = config['presencePenalty'] !== undefined || config['frequencyPenalty'] !== undefined;
  if (!isVertex && hasPenalty && model.startsWith('gemini-2.5')) refuse('Penalty is not enabled for this model.');
  const { responseSchema, responseJsonSchema, responseMimeType } = config;
  if (responseSchema !== undefined && responseJsonSchema !== undefined) refuse('Only one response schema may be set.');
  if ((responseSchema ?? responseJsonSchema) !== undefined && responseMimeType !== 'application/json') {
    refuse('A response schema needs the response mime type application/json.');
  }
  if (config['thinkingConfig'] !== undefined) {
    checkThinking(message(config['thinkingConfig'], 'thinking', 'thinking_config'), model);
  }
}

function checkThinking({ thinkingBudget: budget, thinkingLevel: level }: Json, model: string): void {
  if (budget !== undefined && level !== undefined) refuse('Only one of thinking_budget and thinking_level may be set.');
  if (level !== undefined) {
    if (!model.startsWith('gemini-3')) refuse('Thinking level is not supported for this model.');
    const levels = model.includes('pro') ? ['low', 'medium', 'high'] : ['minimal', 'low', 'medium', 'high'];
    if (!levels.includes(level as string)) refuse('This thinking level is not supported for this model.');
  }
  if (budget === undefined) return;
  if (typeof budget !== 'number' || budget < -1 || budget > 32_768) refuse('The thinking budget is invalid.');
  if (budget === 0 && model.includes('2.5-pro')) {
    refuse('Budget 0 is invalid. This model only works in thinking mode.');
  }
}

const IMAGES: Readonly<Record<string, string>> = {
  'image/png': '89504e47',
  'image/jpeg': 'ffd8ff',
  'image/webp': '52494646',
};

function checkContents(contents: readonly Json[], message: Message, rules: RequestRules): void {
  if (contents.length === 0) refuse('* GenerateContentRequest.contents: contents is not specified');
  let calls = 0;
  for (const [place, { role, parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') refuse('Please use a valid role: user, model.');
    const whole = list(parts).map((part) => message(part, 'part', 'contents.parts'));
    if (whole.length === 0) refuse('contents.parts must not be empty.');
    for (const part of whole) checkPart(part, message);
    const responses = whole.filter((part) => part['functionResponse'] !== undefined).length;
    if (responses !== calls) {
      refuse('The number of function response parts must equal the function call parts of the function call turn.');
    }
    calls = whole.filter((part) => part['functionCall'] !== undefined).length;
    if (calls > 0 && (role !== 'model' || contents[place - 1]?.['role'] !== 'user')) {
      refuse('A function call turn must come after a user turn or after a function response turn.');
    }
  }
  if (rules.model.startsWith('gemini-3')) checkSignatures(contents, rules);
}

function checkPart(part: Json, message: Message): void {
  const data = ['text', 'inlineData', 'functionCall', 'functionResponse'].filter((name) => part[name] !== undefined);
  if (data.length !== 1) refuse("A part must have exactly one of the fields of 'data'.");
  const [kind] = data;
  if (kind === 'functionCall') {
    const { name, args } = message(part[kind], kind, 'function_call');
    if (typeof name !== 'string' || typeof args !== 'object') refuse('A function call needs a name and an object.');
  } else if (kind === 'functionResponse') {
    const { name, response } = message(part[kind], kind, 'function_response');
    if (typeof name !== 'string' || typeof response !== 'object') refuse('A function response needs a Struct.');
  } else if (kind === 'inlineData') {
    const { mimeType, data: base64 } = message(part[kind], 'blob', 'inline_data');
    const bytes = Buffer.from(String(base64), 'base64');
    const magic = IMAGES[String(mimeType)];
    if (magic === undefined || bytes.toString('base64') !== base64) refuse('Unable to process input image.');
    if (!bytes.toString('hex').startsWith(magic)) refuse('Provided image is not valid.');
  }
}

function isSpoken({ role, parts }: Json): boolean {
  return role === 'user' && list(parts).some((part) => (part as Json)['functionResponse'] === undefined);
}

/** Checks that, in the current turn, the first function call of each step has the signature that came with it. */
function checkSignatures(contents: readonly Json[], { isSigned }: RequestRules): void {
  for (const { parts } of contents.slice(contents.findLastIndex(isSpoken))) {
    const first = list(parts).find((part) => (part as Json)['functionCall'] !== undefined) as Json | undefined;
    if (first === undefined) continue;
    const signature = first['thoughtSignature'];
    if (signature === undefined) refuse('Function call is missing a thought_signature in functionCall parts.');
    if (signature !== 'skip_thought_signature_validator' && !isSigned(signature as string)) {
      refuse('Thought signature is not valid.');
    }
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
