import { z } from 'zod';
import { moment } from './control.ts';

/** How the service is, for everybody. */

const model = z.string().meta({ description: 'The resolved identifier of a model that every app may call.' });

export const statusSchema = z
  .object({
    state: z
      .enum(['up', 'slow', 'partial', 'out'])
      .meta({ description: 'The state of the service. With `partial`, some models are out.' }),
    at: moment,
    models: z
      .array(
        z.object({
          model,
          aliases: z.array(z.string()),
          state: z.enum(['up', 'slow', 'out']),
          since: moment.nullable().meta({
            description:
              'Since when the model has been slow or out. It is null while the model is up, and for some seconds after it went out.',
          }),
        }),
      )
      .meta({ description: 'The list is empty while the service is out, and if the operator names no models.' }),
    incidents: z
      .array(
        z.object({
          about: z.enum(['service', 'model']),
          model: model.nullable().meta({
            description:
              'The model that it is about. It is null if it is about the whole service, and if the operator names no models.',
          }),
          state: z.enum(['out', 'slow']),
          beganAt: moment,
          endedAt: moment.nullable().meta({ description: 'When the incident ended. It is null while it goes on.' }),
        }),
      )
      .meta({ description: 'At most 30 incidents of the last 30 days: first those that go on, then the latest.' }),
    isStale: z
      .boolean()
      .meta({ description: 'Whether the list of incidents cannot be read now. It may then lack the latest.' }),
    build: z.object({ commit: z.string(), date: z.string() }).nullable().meta({
      description:
        'The commit that the service was made of, and its day. It is null if it is not known, and if the operator names no models.',
    }),
  })
  .meta({ id: 'ServiceStatus' });
