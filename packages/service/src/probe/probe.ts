import type { Api, CatalogueProvider } from '@purser/contract/catalogue.ts';
import { type ProbedApis, probeApis, probeToolElsewhere } from '#probe/apis.ts';
import { isOfEmbeddings, KINDS_WITH_APIS } from '@purser/contract/apis.ts';
import { askPlain, askStreamed, isAnswer, type Manner, type Outcome } from '#probe/exchange.ts';
import {
  choicesFinding,
  developerFinding,
  type Finding,
  fullContextFinding,
  isObeyed,
  limitFinding,
  schemaFinding,
  streamFinding,
  toolFinding,
  usageFinding,
} from '#probe/findings.ts';
import type { ListedLimits } from '#probe/listed-limits.ts';
import { CHOICES, COUNT, DEVELOPER, SCHEMA, SHORT, SYSTEM, TOOL, tooLongFor } from '#probe/questions.ts';
import { probeVectors, type ProbedVectors } from '#probe/vectors.ts';
import { type Provider, type ProviderCall, UpstreamError, type UpstreamErrorKind } from '#providers/port/provider.ts';

type LimitParameter = ProviderCall['outputLimitParameter'];

/** An upstream of a model, as the catalogue has it. */
export interface ProbeTarget {
  readonly definition: CatalogueProvider;
  readonly providerModel: string;
  readonly outputLimitParameter: LimitParameter;
  readonly contextTokens: number;
  /** The interfaces that the catalogue says it serves. */
  readonly apis: readonly Api[];
}

interface ProbeOptions {
  readonly clientOf: (definition: CatalogueProvider) => Provider;
  /** What the server's own list of models says. */
  readonly limitsOf: (target: ProbeTarget) => Promise<ListedLimits | undefined>;
  /** Sends one prompt that is longer than the context. It may cost as much as a full context. */
  readonly fillsContext: boolean;
  readonly timeoutMs: number;
}

/** What the probe has found out. */
export interface Probed {
  readonly findings: readonly Finding[];
  /** The parameter whose limit is honoured: the catalogue's if it is. Undefined if none is for certain. */
  readonly outputLimitParameter: LimitParameter | undefined;
  /** The one that the catalogue has is ignored or rejected. */
  readonly isLimitDisproved: boolean;
  /** Tells whether the server takes `stream_options`. It is false if it rejects them and streams without them. */
  readonly isStreamOptionsTaken: boolean;
  readonly isDeveloperTaken: boolean;
  readonly isToolTaken: boolean;
  readonly isSchemaTaken: boolean;
  /** The usage of a plain call with `n` of 2 covers both choices, as far as is known. */
  readonly isEveryChoiceCounted: boolean;
  readonly listed: ListedLimits | undefined;
  /** The interfaces that it serves, as far as is known. Undefined for a kind that has one. */
  readonly apis: readonly Api[] | undefined;
  /** How many numbers its vectors have, if it makes vectors. */
  readonly vectorNumbers?: number | undefined;
}

/** The upstream cannot be probed at all. The message says why, and what to do. */
export class ProbeStopped extends Error {}

const LIMIT_PARAMETERS: readonly LimitParameter[] = ['max_completion_tokens', 'max_tokens'];
/** The kinds that have both names for the limit. The others have one, and translate. */
const COMPATIBLE: readonly string[] = ['openai-compatible', 'azure', 'mistral'];

/** The names of the limit that are tried. */
export function parametersOf(
  { definition, outputLimitParameter }: Omit<ProbeTarget, 'apis'>,
  asked: readonly Api[] = ['chat'],
): readonly LimitParameter[] {
  if (!asked.includes('chat')) return [outputLimitParameter]; // Responses has one name, and the adapter writes it.
  return COMPATIBLE.includes(definition.kind) ? LIMIT_PARAMETERS : [outputLimitParameter];
}

/**
 * Finds out what an upstream can do, with a few small calls one after the other. Throws `ProbeStopped` if it cannot be reached,
 * refuses the key, throttles, or rejects even the simplest call.
 */
export async function probe(target: ProbeTarget, options: ProbeOptions): Promise<Probed> {
  const { definition, providerModel } = target;
  const mannerBy =
    (apis: readonly Api[] | undefined) =>
    (parameter: LimitParameter, changed: CatalogueProvider = definition): Manner => ({
      definition: changed,
      provider: options.clientOf(changed),
      providerModel,
      apis,
      outputLimitParameter: parameter,
      timeoutMs: options.timeoutMs,
    });
  const byApi = (by: readonly Api[]): Manner => mannerBy(by)(target.outputLimitParameter);
  const askForVectors = () => probeVectors(byApi(['embeddings']), (outcome) => passable(outcome, true));
  if (isOfEmbeddings(target.apis)) {
    const vectors = await askForVectors();
    if (vectors instanceof UpstreamError) throw stoppedBy(vectors);
    return ofVectors(target, vectors);
  }
  const apis = KINDS_WITH_APIS.has(definition.kind) ? await probeApis(target.apis, byApi, passable) : ONE_API;
  if (servesNothing(apis)) {
    const vectors = await askForVectors();
    if (!(vectors instanceof UpstreamError)) return ofVectors(target, vectors, apis.findings);
  }
  const manner = mannerBy(apis.asked);

  const limits = await probeLimits(target, manner, apis.asked);
  const plain = manner(limits.chosen);
  const choices = limits.isCounted ? [choicesFinding(passable(await askPlain(plain, CHOICES)))] : [];
  const streamed = await probeStreams(target, (changed) => manner(limits.chosen, changed));
  const toolHere = toolFinding(passable(await askPlain(plain, TOOL)));
  const toolElsewhere = await probeToolElsewhere(apis, toolHere, byApi);
  const tool = toolElsewhere ?? toolHere;
  const schema = schemaFinding(passable(await askPlain(plain, SCHEMA)));
  const developer = await probeDeveloper(plain);
  const context = options.fillsContext
    ? [fullContextFinding(target.contextTokens, passable(await askPlain(plain, tooLongFor(target.contextTokens))))]
    : [];
  const listed = await options.limitsOf(target);
  return {
    findings: [
      ...apis.findings,
      ...limits.findings,
      ...choices,
      ...streamed.findings,
      tool,
      schema,
      developer,
      ...context,
      ...listedFindings(listed),
    ],
    outputLimitParameter: limits.honoured,
    isLimitDisproved: limits.isDisproved,
    isStreamOptionsTaken: streamed.isStreamOptionsTaken,
    isDeveloperTaken: developer.is !== 'no',
    isToolTaken: tool.is !== 'no',
    isSchemaTaken: schema.is !== 'no',
    isEveryChoiceCounted: choices.every(({ is }) => is !== 'no'),
    listed,
    apis: toolElsewhere === undefined ? apis.served : ['responses'],
  };
}

function servesNothing({ findings }: ProbedApis): boolean {
  return findings.length > 0 && findings.every(({ is }) => is === 'no');
}

/** Vectors were asked for, and nothing else: the rest stays as the entry has it. */
function ofVectors(
  { outputLimitParameter }: ProbeTarget,
  { findings, numbers }: ProbedVectors,
  others: readonly Finding[] = [],
): Probed {
  return {
    findings: [...others, ...findings],
    outputLimitParameter,
    isLimitDisproved: false,
    isStreamOptionsTaken: true,
    isDeveloperTaken: true,
    isToolTaken: true,
    isSchemaTaken: true,
    isEveryChoiceCounted: true,
    listed: undefined,
    apis: ['embeddings'],
    vectorNumbers: numbers,
  };
}

/** What a kind of provider with one interface has to show. */
const ONE_API: ProbedApis = { findings: [], asked: undefined, served: undefined };

/** The first calls: they also show whether the upstream answers at all. */
async function probeLimits(
  target: ProbeTarget,
  manner: (parameter: LimitParameter) => Manner,
  asked: readonly Api[] | undefined,
) {
  const findings: Finding[] = [];
  let isDisproved = false;
  const answered: { readonly parameter: LimitParameter; readonly outcome: Outcome; readonly is: Finding['is'] }[] = [];
  let last: Outcome | undefined;
  for (const parameter of parametersOf(target, asked)) {
    const outcome = passable(await askPlain(manner(parameter), COUNT), last === undefined);
    const finding = limitFinding(parameter, outcome);
    findings.push(finding);
    isDisproved ||= parameter === target.outputLimitParameter && finding.is === 'no';
    if (isAnswer(outcome)) answered.push({ parameter, outcome, is: finding.is });
    last = outcome;
  }
  const preferred = answered.toSorted(
    (left, right) =>
      rankOf(left.is) - rankOf(right.is) ||
      Number(right.parameter === target.outputLimitParameter) - Number(left.parameter === target.outputLimitParameter),
  );
  const [best] = preferred;
  if (best === undefined) throw stoppedBy(last);
  findings.push(usageFinding('usage in plain answers', best.outcome));
  const honoured = best.is === 'yes' ? best.parameter : undefined;
  // Two answers are asked for only where their cost is bounded and counted, and where `n` is a word.
  const isCounted = honoured !== undefined && isAnswer(best.outcome) && best.outcome.usage !== undefined;
  const hasChoices = COMPATIBLE.includes(target.definition.kind) && asked?.includes('chat') !== false;
  return { findings, isDisproved, chosen: best.parameter, honoured, isCounted: isCounted && hasChoices };
}

async function probeDeveloper(plain: Manner): Promise<Finding> {
  const outcome = passable(await askPlain(plain, DEVELOPER));
  const isAsked = isAnswer(outcome) && !isObeyed(outcome);
  return developerFinding(outcome, isAsked ? passable(await askPlain(plain, SYSTEM)) : undefined);
}

function rankOf(is: Finding['is']): number {
  return { yes: 0, unclear: 1, no: 2 }[is];
}

async function probeStreams(target: ProbeTarget, manner: (changed?: CatalogueProvider) => Manner) {
  const { definition } = target;
  const first = passable(await askStreamed(manner(), SHORT));
  const isRejected = !isAnswer(first) && first.kind === 'rejected';
  if (definition.kind !== 'openai-compatible' || !isRejected) {
    const findings = [streamFinding(first), ...(isAnswer(first) ? [usageFinding('usage in streams', first)] : [])];
    return { isStreamOptionsTaken: true, findings };
  }
  const without = passable(await askStreamed(manner({ ...definition, streamOptions: false }), SHORT));
  const isTaken = !isAnswer(without); // It rejects both, so the option is not to blame.
  const what = 'stream_options';
  const option: Finding = isTaken
    ? { what, is: 'unclear', words: 'streams are rejected with it and without it' }
    : { what, is: 'no', words: 'a stream is rejected with it, and answered without it' };
  const usage = isAnswer(without) ? [usageFinding('usage in streams', without)] : [];
  return { isStreamOptionsTaken: isTaken, findings: [streamFinding(without), option, ...usage] };
}

function listedFindings(listed: ListedLimits | undefined): readonly Finding[] {
  if (listed?.contextTokens === undefined) {
    return [{ what: 'context size', is: 'unclear', words: 'the server does not tell it in its list of models' }];
  }
  return [
    { what: 'context size', is: 'yes', words: `the server's list of models says ${listed.contextTokens} tokens` },
  ];
}

/** Throws for failures that concern no single question, and returns all other outcomes. */
function passable(outcome: Outcome, isFirst = false): Outcome {
  if (isAnswer(outcome)) return outcome;
  const { kind } = outcome;
  const isDown = isFirst && (kind === 'outage' || kind === 'timeout' || kind === 'unsent');
  if (kind === 'throttled' || kind === 'unauthorized' || isDown) throw stoppedBy(outcome);
  return outcome;
}

function stoppedBy(outcome: Outcome | undefined): ProbeStopped {
  if (!(outcome instanceof UpstreamError)) return new ProbeStopped('The upstream did not answer.');
  const { kind, status, retryAfterSeconds } = outcome;
  const code = status === undefined ? '' : ` (${status})`;
  const wait = retryAfterSeconds === undefined ? 'Wait' : `Wait ${Math.ceil(retryAfterSeconds)} s`;
  const words: Readonly<Partial<Record<UpstreamErrorKind, string>>> = {
    throttled: `The upstream throttles calls${code}. ${wait}, then probe again.`,
    timeout: 'The upstream did not answer in time.',
    unauthorized: `The upstream refused the key${code}, or the key may not use this model.`,
    rejected: `The upstream rejects even the simplest call${code}. Check its address and the name of the model there.`,
    outage:
      status === undefined
        ? `The upstream cannot be reached. Check its address, and that the server runs. (${outcome.message})`
        : `The upstream fails${code}. Try again later.`,
  };
  return new ProbeStopped(words[kind] ?? `The upstream did not answer the simplest call${code}. ${outcome.message}`);
}
