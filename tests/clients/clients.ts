import { AI_SDK_ANTHROPIC } from './ai-sdk-anthropic.ts';
import { AI_SDK_OPENAI } from './ai-sdk-openai.ts';
import { AI_SDK_OPENAI_CHAT } from './ai-sdk-openai-chat.ts';
import { AI_SDK_COMPATIBLE } from './ai-sdk-openai-compatible.ts';
import { ANTHROPIC } from './anthropic.ts';
import { LANGCHAIN, LANGCHAIN_RESPONSES } from './langchain.ts';
import { OPENAI } from './openai.ts';
import { OPENAI_RESPONSES } from './openai-responses.ts';
import type { StockClient } from './stock-client.ts';

/** The clients that run wherever the tests run, in the order of `docs/CLIENTS.md`. */
export const CLIENTS: readonly StockClient[] = [
  OPENAI,
  OPENAI_RESPONSES,
  AI_SDK_OPENAI,
  AI_SDK_OPENAI_CHAT,
  AI_SDK_COMPATIBLE,
  LANGCHAIN,
  LANGCHAIN_RESPONSES,
  ANTHROPIC,
  AI_SDK_ANTHROPIC,
];
