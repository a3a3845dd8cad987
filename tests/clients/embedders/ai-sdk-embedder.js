// settings
import { createOpenAI } from '@ai-sdk/openai';
import { embed, embedMany } from 'ai';
// end

const { baseUrl, key, user, texts, query } = JSON.parse(process.argv[2]);
// settings
const purser = createOpenAI({ baseURL: baseUrl, apiKey: key, headers: { 'x-service-user': user } });
const model = purser.embeddingModel('vectors');
// end

try {
  const { embeddings } = await embedMany({ model, values: texts });
  const { embedding } = await embed({ model, value: query });
  console.log(JSON.stringify({ vectors: [...embeddings, embedding], failure: null }));
} catch (error) {
  console.log(JSON.stringify({ vectors: [], failure: `${error.name}: ${error.message}` }));
}
