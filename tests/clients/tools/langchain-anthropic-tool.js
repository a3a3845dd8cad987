// settings
import { ChatAnthropic } from '@langchain/anthropic';
// end
import { HumanMessage, ToolMessage } from '@langchain/core/messages';

const { baseUrl, key, user } = JSON.parse(process.argv[2]);
const rootUrl = baseUrl.replace(/\/v1$/, '');
// settings
const model = new ChatAnthropic({
  model: 'large',
  apiKey: key,
  anthropicApiUrl: rootUrl,
  clientOptions: { defaultHeaders: { 'x-service-user': user } },
  maxRetries: 2, // The default is 6, which retries a 502 for a minute and a half.
});
// end

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const forecast = { name: 'forecast', description: 'Tells the weather.', input_schema: parameters };
const able = model.bindTools([forecast]);
try {
  const messages = [new HumanMessage('Hello')];
  let answer = await able.invoke(messages);
  while (answer.tool_calls.length > 0) {
    const results = answer.tool_calls.map(
      ({ id, args }) => new ToolMessage({ tool_call_id: id, content: `Sun in ${args.city}.` }),
    );
    messages.push(answer, ...results);
    answer = await able.invoke(messages);
  }
  console.log(JSON.stringify({ text: answer.text, failure: null }));
} catch (error) {
  console.log(JSON.stringify({ text: '', failure: `${error.name}: ${error.message}` }));
}
