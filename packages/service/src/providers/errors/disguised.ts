import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { factsOfError, isErrorBody } from '#providers/errors/facts.ts';
import { kindOfFrame, statusIn, USUAL_STATUS } from '#providers/errors/kind.ts';

/** What can only be in an error. Other plain answers are not parsed a second time. */
const HINT = /"(?:error|base_resp|__type|message|detail)"\s*:/;

interface DisguisedError {
  readonly status: number;
  /** The code that AWS would send in a header. */
  readonly type: string | undefined;
}

/**
 * An error that came with status 200, as vendors and the proxies before them send it: in the place of a plain answer, or of a stream.
 * With its status a vendor's library reads it like any other error. Undefined for text that is none.
 */
export function disguisedErrorIn(text: string): DisguisedError | undefined {
  const body = HINT.test(text) ? parseJson(text) : undefined;
  const found: unknown = Array.isArray(body) ? body[0] : body;
  const type = isJsonObject(found) ? found['__type'] : undefined;
  if (typeof type !== 'string' && !isErrorBody(found)) return undefined;
  const facts = factsOfError(found);
  return {
    status: statusIn(facts) ?? USUAL_STATUS[kindOfFrame(facts)],
    type: typeof type === 'string' ? type : undefined,
  };
}
