import { z } from 'zod';

/** The vectors of some texts. */
export const embeddingsSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .meta({ description: 'The numbers, or in base64 the same as floats of four bytes, the lowest byte first.' }),
      }),
    ),
    model: z.string(),
    usage: z
      .object({ prompt_tokens: z.int(), total_tokens: z.int() })
      .meta({ description: 'The counts by which the call is charged.' }),
  })
  .meta({ id: 'Embeddings' });
