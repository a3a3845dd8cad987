import type { Api, CatalogueProvider } from '@purser/contract/catalogue.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk, TokenCounts, UsageReport } from '#providers/port/completion.ts';
import { findUnsupported } from '#providers/capabilities/capabilities.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';
import { TextRun } from '@purser/text-runs/text-run.ts';

/** A small call of the probe. */
export interface ProbeCall {
  readonly request: JsonObject;
  readonly outputTokens: number;
}

/** How the upstream is asked. */
export interface Manner {
  readonly definition: CatalogueProvider;
  readonly provider: Provider;
  readonly providerModel: string;
  /** The interface by which it is asked. Undefined: chat completions. */
  readonly apis?: readonly Api[] | undefined;
  readonly outputLimitParameter: ProviderCall['outputLimitParameter'];
  readonly timeoutMs: number;
}

interface Answer {
  readonly text: string;
  /** The arguments of the first tool call, as the model wrote them. Undefined if it called none. */
  readonly toolArguments: string | undefined;
  /** The reason why the answer ended. It is null if the answer has none. */
  readonly finishReason: string | null;
  /** How many answers came. Only plain ones are counted. */
  readonly choices: number;
  /** The counts of tokens. It is undefined if the upstream did not report them. */
  readonly usage: TokenCounts | undefined;
}

/** A question that the kind of provider has no words for. The adapter was not asked. */
export class NotExpressible extends UpstreamError {
  constructor(path: string, advice: string) {
    super('rejected', `the format of this kind of provider has no word for \`${path}\`. ${advice}`);
  }
}

/** An answer, or the failure in its place. */
export type Outcome = Answer | UpstreamError;

export function isAnswer(outcome: Outcome): outcome is Answer {
  return !(outcome instanceof UpstreamError);
}

/** Makes a plain call. A failure of the upstream is returned. */
export function askPlain(manner: Manner, call: ProbeCall): Promise<Outcome> {
  return orFailure(manner, call, async () => {
    const { choices, usage, large } = await manner.provider.complete(callOf(manner, call));
    large?.leave();
    const [choice] = choices;
    const message = choice?.message ?? {};
    return {
      text: textOf(message['content']),
      toolArguments: argumentsOf(message['tool_calls']),
      finishReason: choice?.finish_reason ?? null,
      choices: choices.length,
      usage: reported(usage),
    };
  });
}

/** Makes a streamed call and joins its chunks. A failure of the upstream is returned, also one in the middle. */
export function askStreamed(manner: Manner, call: ProbeCall): Promise<Outcome> {
  return orFailure(manner, call, async () => {
    const source = await manner.provider.stream(callOf(manner, call), new AbortController().signal);
    let answer: Answer = { text: '', toolArguments: undefined, finishReason: null, choices: 1, usage: undefined };
    await source.rest((chunks) => {
      for (const one of chunks) {
        for (const chunk of one instanceof TextRun ? one.chunks : [one]) answer = withChunk(answer, chunk);
      }
      return true;
    });
    return answer;
  });
}

function withChunk(answer: Answer, { choices, usage }: Chunk): Answer {
  const [choice] = choices;
  return {
    text: answer.text + textOf(choice?.delta['content']),
    toolArguments: answer.toolArguments ?? argumentsOf(choice?.delta['tool_calls']),
    finishReason: choice?.finish_reason ?? answer.finishReason,
    choices: answer.choices,
    usage: reported(usage) ?? answer.usage,
  };
}

export function callOf(manner: Manner, { request, outputTokens }: ProbeCall): ProviderCall {
  const { providerModel, apis, outputLimitParameter, timeoutMs } = manner;
  return {
    request,
    requestText: JSON.stringify(request),
    providerModel,
    apis,
    outputTokens,
    outputLimitParameter,
    timeoutMs,
  };
}

async function orFailure(manner: Manner, { request }: ProbeCall, ask: () => Promise<Answer>): Promise<Outcome> {
  const { definition: provider, providerModel, apis } = manner;
  const unsupported = findUnsupported({ provider, providerModel, apis }, request);
  if (unsupported !== undefined) return new NotExpressible(unsupported.path, unsupported.advice);
  try {
    return await ask();
  } catch (fault) {
    if (fault instanceof UpstreamError) return fault;
    throw fault;
  }
}

/** A report counts if it says how long the answer was, because that is what costs. */
export function reported(usage: UsageReport | undefined): TokenCounts | undefined {
  const counts = usage?.counts;
  return counts?.prompt === undefined || counts.completion === undefined ? undefined : counts;
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : '';
}

function argumentsOf(calls: unknown): string | undefined {
  const [first] = Array.isArray(calls) ? (calls as unknown[]) : [];
  const called = isJsonObject(first) ? first['function'] : undefined;
  const text = isJsonObject(called) ? called['arguments'] : undefined;
  return typeof text === 'string' ? text : undefined;
}
