// settings
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
// end
import { z } from 'zod';

const { baseUrl, key, user } = JSON.parse(process.argv[2]);
// settings
setDefaultOpenAIClient(new OpenAI({ baseURL: baseUrl, apiKey: key, defaultHeaders: { 'x-service-user': user } }));
setTracingDisabled(true); // Otherwise it sends what it does to its vendor.
// end

const forecast = tool({
  name: 'forecast',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `Sun in ${city}.`,
});
const agent = new Agent({ name: 'weather', instructions: 'Be brief.', model: 'large', tools: [forecast] });
try {
  const { finalOutput } = await run(agent, 'Hello');
  console.log(JSON.stringify({ text: finalOutput, failure: null }));
} catch (error) {
  console.log(JSON.stringify({ text: '', failure: `${error.name}: ${error.message}` }));
}
