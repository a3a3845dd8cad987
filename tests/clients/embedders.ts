import { SHOWN, type Tool } from './tools.ts';

/** A client that asks for vectors of two texts and of a query, in a process of its own. */
export interface Embedder extends Tool {
  /** How many calls that takes. */
  readonly calls: number;
  /** It cannot send headers of its own, so its key is bound to a user. */
  readonly isBound?: boolean;
}

/** What an embedder tells: the vectors, or what it found by them. */
export interface Embedded {
  readonly vectors?: readonly (readonly number[])[];
  readonly found?: readonly string[];
  readonly failure: string | null;
}

const at = (file: string): URL => new URL(`embedders/${file}`, import.meta.url);
const files = (file: string) => ({ settings: at(file), script: at(file), shows: SHOWN });

export const EMBEDDERS: readonly Embedder[] = [
  {
    name: 'openai',
    language: 'Node',
    package: 'openai',
    seenWith: '7.59.0',
    ...files('openai-embedder.js'),
    calls: 2,
    notes: 'It asks for base64 and gives numbers.',
  },
  {
    name: 'openai (Python)',
    language: 'Python',
    package: 'openai',
    seenWith: '3.57.0',
    ...files('openai_embedder.py'),
    calls: 2,
    notes: 'It asks for base64 and gives numbers.',
  },
  {
    name: 'AI SDK with @ai-sdk/openai',
    language: 'Node',
    package: '@ai-sdk/openai',
    seenWith: '4.0.118',
    ...files('ai-sdk-embedder.js'),
    calls: 2,
    notes: '',
  },
  {
    name: 'AI SDK with @ai-sdk/openai-compatible',
    language: 'Node',
    package: '@ai-sdk/openai-compatible',
    seenWith: '3.0.92',
    ...files('ai-sdk-compatible-embedder.js'),
    calls: 2,
    notes: '',
  },
  {
    name: 'LangChain for JavaScript',
    language: 'Node',
    package: '@langchain/openai',
    seenWith: '1.6.0',
    ...files('langchain-embedder.js'),
    calls: 2,
    notes: 'It sends at most 512 texts in a call (`batchSize`).',
  },
  {
    name: 'LangChain for Python',
    language: 'Python',
    package: 'langchain-openai',
    seenWith: '1.7.4',
    ...files('langchain_embedder.py'),
    calls: 2,
    notes: '',
  },
  {
    name: 'LlamaIndex',
    language: 'Python',
    package: 'llama-index-embeddings-openai',
    seenWith: '0.7.0',
    ...files('llama_index_embedder.py'),
    calls: 2,
    notes: '`model_name` takes any name, `model` those of OpenAI alone. It sends at most 100 texts in a call.',
  },
  {
    name: 'mem0',
    language: 'Python',
    package: 'mem0ai',
    seenWith: '2.2.1',
    ...files('mem0_embedder.py'),
    calls: 3,
    isBound: true,
    notes:
      'It sends no headers of its own, so its key is [bound to a user](guides/app-developer.md#keys). Without `MEM0_TELEMETRY=False` it tells its vendor what it does. It calls for each memory and each search, and for each memory it also asks `large`, unless `infer=False`.',
  },
];
