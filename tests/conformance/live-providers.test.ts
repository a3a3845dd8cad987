import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CatalogueProvider, providerSchema } from '../../packages/contract/src/catalogue-providers.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { createProviderKeys } from '../../packages/service/src/providers/keys/provider-keys.ts';
import type { ProviderCall, StreamChunk } from '../../packages/service/src/providers/port/provider.ts';
import { createProviderRegistry } from '../../packages/service/src/providers/registry.ts';

/**
 * One plain and one streamed call to each vendor itself, where the environment names a model for it and has a key. They cost some
 * cents at most, and run nowhere else: all other tests stay on this machine.
 */
interface Live {
  readonly kind: string;
  /** The variable that names the model. */
  readonly model: string;
  /** Variables that must be set besides. */
  readonly needs: readonly string[];
  readonly definition: () => unknown;
}

const LIVE: readonly Live[] = [
  {
    kind: 'anthropic',
    model: 'LIVE_ANTHROPIC_MODEL',
    needs: ['ANTHROPIC_API_KEY'],
    definition: () => ({ kind: 'anthropic', apiKeyEnv: 'ANTHROPIC_API_KEY' }),
  },
  {
    kind: 'azure',
    model: 'LIVE_AZURE_DEPLOYMENT',
    needs: ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY'],
    definition: () => ({
      kind: 'azure',
      endpoint: process.env['AZURE_OPENAI_ENDPOINT'],
      apiKeyEnv: 'AZURE_OPENAI_API_KEY',
    }),
  },
  {
    kind: 'mistral',
    model: 'LIVE_MISTRAL_MODEL',
    needs: ['MISTRAL_API_KEY'],
    definition: () => ({ kind: 'mistral', apiKeyEnv: 'MISTRAL_API_KEY' }),
  },
  {
    kind: 'openai-compatible',
    model: 'LIVE_OPENAI_MODEL',
    needs: ['OPENAI_API_KEY'],
    definition: () => ({
      kind: 'openai-compatible',
      baseUrl: 'https://api.openai.com/v1',
      apiKeyEnv: 'OPENAI_API_KEY',
    }),
  },
  {
    kind: 'bedrock',
    model: 'LIVE_BEDROCK_MODEL',
    needs: ['AWS_REGION'],
    definition: () => ({ kind: 'bedrock', region: process.env['AWS_REGION'] }),
  },
  {
    kind: 'google',
    model: 'LIVE_GOOGLE_MODEL',
    needs: ['GEMINI_API_KEY'],
    definition: () => ({ kind: 'google', apiKeyEnv: 'GEMINI_API_KEY' }),
  },
  {
    kind: 'vertex',
    model: 'LIVE_VERTEX_MODEL',
    needs: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
    definition: () => ({
      kind: 'vertex',
      project: process.env['GOOGLE_CLOUD_PROJECT'],
      location: process.env['GOOGLE_CLOUD_LOCATION'],
    }),
  },
];

function callOf(providerModel: string): ProviderCall {
  const request = { messages: [{ role: 'user', content: 'Answer with the one word: fish' }] };
  return {
    request,
    requestText: JSON.stringify(request),
    providerModel,
    outputTokens: 2_000,
    outputLimitParameter: 'max_completion_tokens',
    timeoutMs: 60_000,
  };
}

for (const { kind, model, needs, definition } of LIVE) {
  const missing = [model, ...needs].filter((name) => (process.env[name] ?? '') === '');
  const skip = missing.length > 0 && `Set ${missing.join(', ')} to call the vendor itself.`;
  test(`MO-09 ${kind}: the vendor itself answers plain and streamed calls with usage`, {
    skip,
  }, async () => {
    const provider: CatalogueProvider = providerSchema.parse(definition());
    const keys = createProviderKeys({
      providerKeys: {},
      readEnvironment: (name) => process.env[name],
      outboundEnvironment: process.env,
      clock: systemClock,
    });
    const registry = createProviderRegistry({ simulatorUrl: undefined, keys, environment: process.env });
    try {
      const client = registry.clientOf(provider, 0);
      const call = callOf(process.env[model] ?? '');
      const { choices, usage } = await client.complete(call);
      assert.match(JSON.stringify(choices[0]?.message), /fish/i);
      assert.ok((usage?.counts.prompt ?? 0) > 0 && (usage?.counts.completion ?? 0) > 0);
      const source = await client.stream(call, new AbortController().signal);
      const chunks: StreamChunk[] = [...((await source.first()) ?? [])];
      await source.rest((more) => chunks.push(...more) > 0);
      const last = chunks.at(-1);
      assert.ok(last !== undefined && 'choices' in last && source.isWhole());
      assert.equal(last.choices[0]?.finish_reason, 'stop');
      assert.ok((last.usage?.counts.completion ?? 0) > 0);
    } finally {
      registry.close();
    }
  });
}
