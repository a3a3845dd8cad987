import { z } from 'zod';
import { moment } from './control.ts';

/** How the service is, for everybody. */

const model = z.string().meta({ description: 'The resolved identifier of a model that every app may call.' });

export const statusSchema = z
  .object({
    state: z.enum(['up', 'slow', 'partial', 'out']).meta({ description: '`partial`: some models are out.' }),
    at: moment,
    models: z
      .array(
        z.object({
          model,
          aliases: z.array(z.string()),
          state: z.enum(['up', 'slow', 'out']),
          since: moment
            .nullable()
            .meta({ description: 'Null while it is up, and for some seconds after it went out.' }),
        }),
      )
      .meta({ description: 'Empty while the service is out, and if the operator names no models.' }),
    incidents: z
      .array(
        z.object({
          about: z.enum(['service', 'model']),
          model: model.nullable().meta({ description: 'Null: the whole service, or the operator names no models.' }),
          state: z.enum(['out', 'slow']),
          beganAt: moment,
          endedAt: moment.nullable().meta({ description: 'Null while it goes on.' }),
        }),
      )
      .meta({ description: 'Of the last 30 days, at most 30: first those that go on, then the latest.' }),
    isStale: z
      .boolean()
      .meta({ description: 'True: the list of incidents cannot be read now, and may lack the latest.' }),
  })
  .meta({ id: 'ServiceStatus' });
