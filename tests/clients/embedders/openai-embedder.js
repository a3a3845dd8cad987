// settings
import OpenAI from 'openai';
// end

const { baseUrl, key, user, texts, query } = JSON.parse(process.argv[2]);
// settings
const client = new OpenAI({ baseURL: baseUrl, apiKey: key, defaultHeaders: { 'x-service-user': user } });
// end

try {
  const vectors = [];
  for (const input of [texts, query]) {
    // settings
    const { data } = await client.embeddings.create({ model: 'vectors', input });
    // end
    vectors.push(...data.map(({ embedding }) => embedding));
  }
  console.log(JSON.stringify({ vectors, failure: null }));
} catch (error) {
  console.log(JSON.stringify({ vectors: [], failure: `${error.name}: ${error.message}` }));
}
