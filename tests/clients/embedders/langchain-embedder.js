// settings
import { OpenAIEmbeddings } from '@langchain/openai';
// end

const { baseUrl, key, user, texts, query } = JSON.parse(process.argv[2]);
// settings
const embeddings = new OpenAIEmbeddings({
  model: 'vectors',
  apiKey: key,
  configuration: { baseURL: baseUrl, defaultHeaders: { 'x-service-user': user } },
});
// end

try {
  const vectors = [...(await embeddings.embedDocuments(texts)), await embeddings.embedQuery(query)];
  console.log(JSON.stringify({ vectors, failure: null }));
} catch (error) {
  console.log(JSON.stringify({ vectors: [], failure: `${error.name}: ${error.message}` }));
}
