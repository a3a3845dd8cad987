import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { claudeOf } from '#providers/models/claude.ts';
import { ANTHROPIC } from '#providers/capabilities/anthropic.ts';
import { BEDROCK } from '#providers/capabilities/bedrock.ts';
import { findUnembeddable } from '#providers/capabilities/embeddings.ts';
import { GOOGLE, VERTEX } from '#providers/capabilities/google.ts';
import { findImageAddress } from '#providers/capabilities/messages.ts';
import { MISTRAL } from '#providers/capabilities/mistral.ts';
import { findShortLimit, RESPONSES } from '#providers/capabilities/responses.ts';
import { type Capabilities, findUncovered, type Unsupported } from '#providers/capabilities/rules.ts';
import type { Api } from '#providers/port/provider.ts';

export type { Unsupported } from '#providers/capabilities/rules.ts';

type NativeKind = Exclude<CatalogueProvider['kind'], 'openai-compatible' | 'azure' | 'simulator'>;

/** What a request is sent to. */
interface Target {
  readonly provider: CatalogueProvider;
  readonly providerModel: string;
  /** The interfaces that it serves. Undefined: chat completions. */
  readonly apis?: readonly Api[] | undefined;
}

/**
 * The first part of a valid request that this upstream can neither be sent nor be translated for. Such a request is refused by
 * name, so that nothing is dropped in silence (MO-09). Undefined if all of it arrives. `wire`: how the caller speaks. For embeddings, the
 * request is the caller's own.
 */
export function findUnsupported(
  { provider, providerModel, apis = ['chat'] }: Target,
  request: JsonObject,
  wire: Api = 'chat',
): Unsupported | undefined {
  if (wire === 'embeddings') return findUnembeddable({ provider, providerModel }, request);
  switch (provider.kind) {
    // The caller's own format: a model's `parameters` say what the vendor takes of it.
    case 'openai-compatible':
    case 'azure': {
      if (!speaksResponses({ apis, wire })) return undefined;
      const isOwn = wire === 'responses';
      return (
        findShortLimit(request) ??
        (isOwn ? undefined : findUncovered(CAPABILITIES.responses, { request, providerModel }))
      );
    }
    case 'simulator':
      return undefined;
    case 'anthropic':
    case 'bedrock':
    case 'vertex': {
      // The caller's own form goes out, which the vendor judges.
      if (speaks({ provider, providerModel }, wire)) {
        return provider.kind === 'bedrock' ? findImageAddress(request['messages'] ?? []) : undefined;
      }
      const isClaude =
        provider.kind === 'anthropic' || (provider.kind === 'vertex' && claudeOf(providerModel) !== undefined);
      return findUncovered(CAPABILITIES[isClaude ? 'anthropic' : provider.kind], { request, providerModel });
    }
    case 'google':
    case 'mistral':
      return findUncovered(CAPABILITIES[provider.kind], { request, providerModel });
  }
}

const KINDS_OF_MESSAGES: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'vertex']);

/** Whether an upstream is sent a caller's own form (WI-02). */
export function speaks({ provider, providerModel, apis = [] }: Target, wire: Api): boolean {
  if (wire === 'messages') return KINDS_OF_MESSAGES.has(provider.kind) && takesOwnMessages(providerModel);
  return apis.includes(wire);
}

/** Whether a server of Messages takes all of what clients send to Claude. Others know less of it, and get a translation. */
export function takesOwnMessages(providerModel: string): boolean {
  return claudeOf(providerModel) !== undefined;
}

/** Whether an upstream is called by Responses: for a caller who speaks it, and where nothing else is served. */
export function speaksResponses({
  apis = [],
  wire,
}: {
  readonly apis?: readonly Api[] | undefined;
  readonly wire?: Api | undefined;
}): boolean {
  return apis.includes('responses') && (wire === 'responses' || !apis.includes('chat'));
}

/** The capabilities of the kinds that translate, and of upstreams that serve Responses alone. */
export const CAPABILITIES: Readonly<Record<NativeKind | 'responses', Capabilities>> = {
  anthropic: ANTHROPIC,
  bedrock: BEDROCK,
  google: GOOGLE,
  vertex: VERTEX,
  mistral: MISTRAL,
  responses: RESPONSES,
};
