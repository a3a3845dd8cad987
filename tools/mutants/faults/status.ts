import type { Mutant } from '../mutant.ts';
import { incidents, noting, observing, publicStatus, seeing, statusWords, trouble } from './places.ts';

const GOES_ON = 'OP-14 an incident lasts while any process sees it';
const BREAKERS = 'OP-14 a model is out when all its upstreams’ breakers are open';

/** Faults by which the status page says that all is well, that something is not, or what nobody should know. */
export const STATUS_FAULTS: readonly Mutant[] = [
  {
    id: 'reserved-model-on-the-status-page',
    clause: 'MO-04',
    edits: [publicStatus("model === '' || ids.has(model)", "model === '' || model !== ''")],
    killer: statusWords('OP-14 MO-04 nothing is said of reserved or removed models'),
  },
  {
    id: 'reserved-models-crowd-out-the-others',
    clause: 'MO-04',
    edits: [incidents("(model = '' or model = any ($3::text[]))", '($3::text[] is not null)')],
    killer: noting('OP-14 MO-04 incidents of hidden models take no places'),
  },
  {
    id: 'one-open-breaker-is-an-outage',
    clause: 'OP-14',
    edits: [trouble('some.every(fails)', 'some.some(fails)')],
    killer: seeing(BREAKERS),
  },
  {
    id: 'long-forgotten-breaker-is-an-outage',
    clause: 'OP-14',
    edits: [trouble('&& (testInMs > 0 || lastMinute.calls > 0)', '')],
    killer: seeing(BREAKERS),
  },
  {
    id: 'incident-ends-when-one-process-sees-nothing',
    clause: 'OP-14',
    edits: [observing("interval '35 seconds'", "interval '5 seconds'")],
    killer: noting(GOES_ON),
  },
  {
    id: 'incident-begins-anew-each-time',
    clause: 'OP-14',
    edits: [observing("at - interval '5 minutes'", "at - interval '5 seconds'")],
    killer: noting(GOES_ON),
  },
  {
    id: 'moved-clock-is-an-outage',
    clause: 'CC-16',
    edits: [observing(' and coalesce(p_silent_ms > 60000, true)', '')],
    killer: noting('OP-14 a time without processes is one incident'),
  },
  {
    id: 'slow-model-sets-what-is-usual',
    clause: 'CC-16',
    edits: [observing('* least(greatest(extract(epoch from at - u.seen_at), 0), 60) / 86400', '')],
    killer: noting('OP-14 a model is slow at twice its usual time'),
  },
];
