import { readFileSync } from 'node:fs';
import { isOfEmbeddings, KINDS_WITH_APIS } from '@purser/contract/apis.ts';
import { type CataloguePrice, statedPrice } from '@purser/contract/catalogue.ts';
import { defaultOutputLimitParameter } from '@purser/contract/output-limit.ts';
import type { Config } from '#app/settings/config.ts';
import { FORMAT_PARAMETERS, openProber } from '#app/catalogue/probe.ts';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { inUnits } from '#price-lists/decimal.ts';
import { type PricedUpstream, readUpstreams } from '#price-lists/priced-upstreams.ts';
import { planOf } from '#probe/cost.ts';
import { type Probed, parametersOf, ProbeStopped, type ProbeTarget } from '#probe/probe.ts';
import { type ProbedUpstream, proposalOf } from '#probe/proposal.ts';

/** These are the options of `catalogue probe` as they are written. */
interface ProbeWords {
  readonly yes?: true | undefined;
  readonly catalogue?: string | undefined;
  readonly provider?: string | undefined;
  readonly fillContext?: true | undefined;
}

type ProbeSettings = Pick<
  Config,
  'catalogueFile' | 'currency' | 'providerKeys' | 'readEnvironment' | 'outboundEnvironment'
>;

/** Runs `catalogue probe`: 1 if an upstream could not be probed. Throws `CommandError` or `CatalogueFileError`. */
export async function probeModel(model: string, options: ProbeWords, settings: ProbeSettings): Promise<number> {
  const fillsContext = options.fillContext === true;
  const file = readFile(options.catalogue ?? settings.catalogueFile);
  const subjects = subjectsIn(file, model, options.provider);
  announce(subjects, { fillsContext, currency: settings.currency });
  if (options.yes !== true) {
    console.log('Nothing was sent. Add --yes to make these calls.');
    return 0;
  }
  const done = await probeAll(subjects, settings, fillsContext);
  propose(file, model, done);
  return done.length < subjects.length ? 1 : 0;
}

/** One upstream to probe. */
interface Subject {
  readonly upstream: PricedUpstream;
  readonly target: ProbeTarget;
  readonly price: CataloguePrice | undefined;
}

/** The part of an entry that the probe reads itself. The file was checked before. */
interface RawEntry extends JsonObject {
  readonly outputLimitParameter?: ProbeTarget['outputLimitParameter'];
  readonly price?: CataloguePrice;
  readonly cacheWriteMicrosPerMillion?: number;
  readonly upstreams?: readonly RawEntry[];
}

interface RawFile {
  readonly aliases?: Readonly<Record<string, string>>;
  readonly models: readonly RawEntry[];
  readonly providers: Readonly<Record<string, JsonObject>>;
}

interface CatalogueText {
  readonly upstreams: readonly PricedUpstream[];
  readonly raw: RawFile;
}

function readFile(file: string | undefined): CatalogueText {
  if (file === undefined) throw new UsageError('Name the catalogue file: --catalogue <file>, or PURSER_CATALOGUE.');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new CommandError(`The catalogue \`${file}\` cannot be read.`);
  }
  return { upstreams: readUpstreams(text), raw: JSON.parse(text) as RawFile };
}

function subjectsIn(
  { upstreams, raw }: CatalogueText,
  model: string,
  provider: string | undefined,
): readonly Subject[] {
  const ofModel = upstreams.filter((one) => one.model === model);
  if (ofModel.length === 0) {
    const target = raw.aliases?.[model];
    const hint = target === undefined ? '' : ` It is an alias: name the model, \`${target}\`.`;
    throw new CommandError(`The catalogue has no model \`${model}\`.${hint}`);
  }
  const wanted = ofModel.filter((one) => provider === undefined || one.provider === provider);
  if (wanted.length === 0) throw new CommandError(`The model \`${model}\` has no upstream at \`${provider}\`.`);
  return wanted.map((upstream) => {
    const entry: RawEntry = raw.models[upstream.place.model] ?? {};
    const own: RawEntry = entry.upstreams?.[upstream.place.upstream ?? -1] ?? {};
    const { definition, providerModel, contextTokens, apis } = upstream;
    const outputLimitParameter =
      own.outputLimitParameter ?? entry.outputLimitParameter ?? defaultOutputLimitParameter(definition);
    return {
      upstream,
      target: { definition, providerModel, contextTokens, outputLimitParameter, apis },
      price: own.price ?? statedPrice(entry),
    };
  });
}

interface Announcement {
  readonly fillsContext: boolean;
  readonly currency: string;
}

function announce(subjects: readonly Subject[], { fillsContext, currency }: Announcement): void {
  for (const { upstream, target, price } of subjects) {
    const makesVectors = isOfEmbeddings(target.apis);
    const { calls, cost } = planOf({
      limits: parametersOf(target).length,
      hasApis: KINDS_WITH_APIS.has(target.definition.kind),
      price,
      maxOutputTokens: upstream.maxOutputTokens,
      fullContextTokens: fillsContext ? target.contextTokens : undefined,
      makesVectors,
    });
    console.log(`${titleOf(upstream)}: at most ${calls} calls.`);
    console.log(
      cost === undefined
        ? '  What they cost is not known: the entry has no price.'
        : makesVectors
          ? `  They cost at most ${inUnits(cost.honoured)} ${currency}.`
          : `  They cost at most ${inUnits(cost.honoured)} ${currency} if the upstream honours output limits,\n` +
            `  and at most ${inUnits(cost.ignored)} ${currency} if it ignores all of them.`,
    );
  }
}

/** Probes the upstreams and returns those that could be probed. Prints for each what was found, or why nothing was. */
async function probeAll(
  subjects: readonly Subject[],
  settings: ProbeSettings,
  fillsContext: boolean,
): Promise<readonly ProbedUpstream[]> {
  const prober = openProber(settings);
  const done: ProbedUpstream[] = [];
  try {
    for (const { upstream, target } of subjects) {
      console.log(`\n${titleOf(upstream)}`);
      try {
        const probed = await prober.probe(target, { fillsContext });
        report(probed);
        done.push({ target, probed, provider: upstream.provider, place: upstream.place.upstream });
      } catch (fault) {
        if (!(fault instanceof ProbeStopped)) throw fault;
        console.log(`  Not probed. ${fault.message}`);
      }
    }
  } finally {
    prober.close();
  }
  return done;
}

function report({ findings, outputLimitParameter }: Probed): void {
  const width = Math.max(...findings.map(({ what }) => what.length));
  for (const { what, is, words } of findings) console.log(`  ${what.padEnd(width)}  ${is.padEnd(7)}  ${words}`);
  if (outputLimitParameter === undefined) {
    console.log('  ! No output limit is certain to be honoured, so calls may cost more than their holds.');
  }
}

function propose({ raw }: CatalogueText, name: string, done: readonly ProbedUpstream[]): void {
  const model = raw.models.find((entry) => entry['id'] === name) ?? {};
  const { providers } = raw;
  const proposal = proposalOf({ model, providers, parameters: FORMAT_PARAMETERS }, done);
  if (done.length === 0) return;
  if (proposal.model === undefined && proposal.providers === undefined) {
    console.log('\nThe entry needs no change.');
    return;
  }
  console.log('\nProposed, to be put into the catalogue file by you:');
  if (proposal.providers !== undefined) console.log(JSON.stringify({ providers: proposal.providers }, undefined, 2));
  if (proposal.model !== undefined) console.log(JSON.stringify(proposal.model, undefined, 2));
}

function titleOf({ model, provider, providerModel }: PricedUpstream): string {
  return `${model} (${provider}/${providerModel})`;
}
