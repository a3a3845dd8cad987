import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import type { PurserUser } from '../../packages/sdk/src/sdk.ts';

/** Calls a model with each stock client, set up by the SDK, and returns the text of the answer. */
export type Says = (user: PurserUser, model: string, text: string) => Promise<string>;

/** Every way to call. All of them throw errors where `guard` sees them. */
export const CLIENTS: Readonly<Record<string, Says>> = {
  openai: async (user, model, text) => {
    const completion = await new OpenAI(user.openai()).chat.completions.create(request(model, text));
    return completion.choices[0]?.message.content ?? '';
  },
  'openai, streamed': async (user, model, text) => {
    const stream = await new OpenAI(user.openai()).chat.completions.create({ ...request(model, text), stream: true });
    let heard = '';
    for await (const chunk of stream) heard += chunk.choices[0]?.delta.content ?? '';
    return heard;
  },
  '@ai-sdk/openai-compatible': (user, model, text) => generate(compatible(user, model), text),
  '@ai-sdk/openai-compatible, streamed': (user, model, text) => stream(compatible(user, model), text),
  '@ai-sdk/openai': (user, model, text) => generate(createOpenAI(user.aiSdk()).chat(model), text),
  '@ai-sdk/openai, streamed': (user, model, text) => stream(createOpenAI(user.aiSdk()).chat(model), text),
  'openai, Responses': async (user, model, input) =>
    (await new OpenAI(user.openai()).responses.create({ model, input })).output_text,
  'openai, Responses, streamed': async (user, model, input) => {
    const stream = await new OpenAI(user.openai()).responses.create({ model, input, stream: true });
    let heard = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') heard += event.delta;
      if (event.type === 'response.failed') throw new Error(event.response.error?.message);
    }
    return heard;
  },
  '@ai-sdk/openai, Responses': (user, model, text) => generate(createOpenAI(user.aiSdk())(model), text),
  '@ai-sdk/openai, Responses, streamed': (user, model, text) => stream(createOpenAI(user.aiSdk())(model), text),
  '@anthropic-ai/sdk': async (user, model, text) => {
    const { content } = await new Anthropic(user.anthropic()).messages.create(messagesRequest(model, text));
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  '@anthropic-ai/sdk, streamed': async (user, model, text) => {
    return await new Anthropic(user.anthropic()).messages.stream(messagesRequest(model, text)).finalText();
  },
  '@ai-sdk/anthropic': (user, model, text) => generate(createAnthropic(user.aiSdk())(model), text),
  '@ai-sdk/anthropic, streamed': (user, model, text) => stream(createAnthropic(user.aiSdk())(model), text),
  '@langchain/openai': async (user, model, text) => (await langchain(user, model).invoke(text)).text,
  '@langchain/openai, streamed': async (user, model, text) => {
    let heard = '';
    for await (const chunk of await langchain(user, model).stream(text)) heard += chunk.text;
    return heard;
  },
};

function request(model: string, content: string) {
  return { model, messages: [{ role: 'user' as const, content }] };
}

function messagesRequest(model: string, content: string) {
  return { ...request(model, content), max_tokens: 100 };
}

function compatible(user: PurserUser, model: string): LanguageModel {
  return createOpenAICompatible({ name: 'purser', ...user.aiSdk() })(model);
}

async function generate(model: LanguageModel, prompt: string): Promise<string> {
  return (await generateText({ model, prompt, maxOutputTokens: 100 })).text;
}

/** Its streams throw nothing. They hand over the error. */
async function stream(model: LanguageModel, prompt: string): Promise<string> {
  const failures: unknown[] = [];
  const { textStream } = streamText({
    model,
    prompt,
    maxOutputTokens: 100,
    onError: ({ error }) => void failures.push(error),
  });
  let heard = '';
  for await (const part of textStream) heard += part;
  if (failures.length > 0) throw failures[0];
  return heard;
}

function langchain(user: PurserUser, model: string): ChatOpenAI {
  return new ChatOpenAI({ model, ...user.langchain() });
}

/** The paths that a server of this process was asked for during the work. */
export async function requestsAt(url: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const port = Number(new URL(url).port);
  const paths: string[] = [];
  const listen = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort === port) paths.push(request.url ?? '');
  };
  subscribe('http.server.request.start', listen);
  try {
    await work();
  } finally {
    unsubscribe('http.server.request.start', listen);
  }
  return paths;
}
