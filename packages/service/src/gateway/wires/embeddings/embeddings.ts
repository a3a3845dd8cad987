import type { Wire } from '#gateway/call/wire.ts';
import { readRequest } from '#gateway/wires/embeddings/read.ts';
import { withRemedyLink } from '#gateway/output/remedy-link.ts';

/** The embeddings of OpenAI's format: vectors of texts (WI-11). Its models have no output, and nothing is streamed. */
export const embeddingsWire: Wire = {
  name: 'embeddings',
  path: '/v1/embeddings',
  takesLargeBodies: true,
  read: readRequest,
  worded: withRemedyLink,
};
