import type { CallerAddress } from '#http/requests/caller-address.ts';
import { knownCallers } from '#http/requests/read-body.ts';
import type { PageHandlers } from '#http/listener/page-routes.ts';
import { awayRefusal } from '#http/answers/refused.ts';
import type { Exchange } from '#http/answers/respond.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PROOF_FIELD, provenForm } from '#web/fields/fields.ts';
import { formatsOf } from '#web/format/formats.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import { bindingOf, isProof, proofOf } from '#web/serving/form-proof.ts';
import type { PagePace } from '#web/serving/page-pace.ts';
import {
  type Audience,
  type PageMethods,
  type PageRequest,
  type PageResponse,
  redirectTo,
  refusalPage,
} from '#web/frame/page.ts';
import { readForm } from '#web/forms/form.ts';
import { sendPage } from '#web/serving/send-page.ts';
import { REFUSAL_TEXTS as TEXTS } from '#web/frame/texts.ts';
import { usualOrigin } from '#web/serving/usual-origin.ts';

export interface PageHandlerOptions {
  readonly cookies: Cookies;
  /** The keys that sign the proofs of forms. */
  readonly keys: ProofKeys;
  /** Whether an `Origin` header names this service. */
  readonly isOwnOrigin: (origin: string, host: string | undefined) => boolean;
  /** The base of the addresses that we hand out. */
  readonly publicUrl: string;
  /** Where a request comes from, behind the proxies of the settings. */
  readonly addressOf: CallerAddress;
  readonly pace: PagePace;
  readonly log: Log;
  /** How long the reader of a file may take nothing of it, in milliseconds. A minute unless a test says otherwise. */
  readonly stallMsMax?: number;
}

const STALL_MS_MAX = 60_000;

/**
 * The methods of a page as handlers of the server. Every answer is a page, a fault too, and a form from another site never
 * reaches the page. `path` is the path as declared, for the log: the address itself may hold a token.
 */
export function pageHandlers<Who>(
  options: PageHandlerOptions,
  audience: Audience<Who>,
  path: string,
  methods: PageMethods<Who>,
): PageHandlers {
  const { log, stallMsMax = STALL_MS_MAX } = options;
  const handlers = Object.keys(methods)
    .filter((name) => name === 'GET' || name === 'POST')
    .map((method) => [
      method,
      async (exchange: Exchange, part: string) => {
        const { correlationId } = exchange;
        try {
          const given = await answer(options, audience, methods, exchange, part);
          if (given !== undefined) await sendPage(exchange, given, stallMsMax);
        } catch (fault) {
          log.error({ correlationId, path, fault: describeFault(fault) }, 'a page failed');
          // The reference is all that people get of a fault. The log has the rest under the same id.
          const failed = awayRefusal(fault) ?? refuse('INTERNAL_SERVER_ERROR', TEXTS.failed);
          await sendPage(exchange, refusalPage(audience, failed, TEXTS.reference(correlationId)), stallMsMax);
        }
      },
    ]);
  return Object.fromEntries(handlers) as PageHandlers;
}

/** Returns undefined if the caller left before the form was whole, so nobody waits for an answer. */
async function answer<Who>(
  options: PageHandlerOptions,
  audience: Audience<Who>,
  { GET, POST, formBytesMax, isForAll }: PageMethods<Who>,
  exchange: Exchange,
  part: string,
): Promise<PageResponse | undefined> {
  const { cookies, keys } = options;
  const { headers, method } = exchange.request;
  const isForm = method === 'POST';
  const isPaced = !isForm && isForAll !== true;
  const address = options.addressOf(exchange.request);
  const token = cookies.read(headers.cookie, audience.cookie);
  const tooFast = isPaced ? await options.pace.ofAddress(address, token !== undefined) : undefined;
  if (tooFast !== undefined) return refusalPage(audience, tooFast);
  const query = new URLSearchParams(exchange.query);
  // PostgreSQL cannot store NUL in a text, so a page that looks for one would fail (ER-08).
  if ([...query].some((pair) => pair.join('').includes('\0'))) {
    return refusalPage(audience, refuse('BAD_REQUEST', TEXTS.oddAddress));
  }
  const usual = isForm ? undefined : usualOrigin(options.publicUrl, headers.host);
  if (usual !== undefined) return redirectTo(`${usual}${exchange.path}${exchange.query && `?${exchange.query}`}`);
  // The origin is checked first: a form from another site must not cost us the reading of its body or a look at the database.
  if (isForm && !isFromOurPage(options, exchange)) {
    return refusalPage(audience, refuse('FORBIDDEN', TEXTS.foreign));
  }
  const tooMany = isForm ? options.pace.ofForm(address) : undefined;
  if (tooMany !== undefined) return refusalPage(audience, tooMany);
  const findWho = async () => (token === undefined ? undefined : audience.find(token));
  // Bodies of strangers have a small room of their own, so only somebody whom the page lets in may send more.
  const sender = isForm && formBytesMax !== undefined ? await findWho() : undefined;
  const most = sender && formBytesMax?.(sender, exchange.path);
  const large = most === undefined ? undefined : { arriving: knownCallers, most };
  const form = isForm ? await readForm(exchange, address, large) : undefined;
  if (form instanceof Refusal) return refusalPage(audience, form);
  if (isForm && form === undefined) return undefined;

  // Who is signed in comes before the proof, because a proof is bound to the session: signing out makes all open forms expire.
  const signedIn = await findWho();
  if (isPaced && token !== undefined) {
    const tooEager = await options.pace.ofHolder(address, signedIn && audience.nameOf(signedIn));
    if (tooEager !== undefined) return refusalPage(audience, tooEager);
  }
  const binding = bindingOf(cookies, headers.cookie, signedIn === undefined ? undefined : token);
  if (form !== undefined && !isProof(keys, form.field(PROOF_FIELD), binding, exchange.path)) {
    return refusalPage(audience, refuse('FORBIDDEN', TEXTS.outOfDate));
  }

  const request: PageRequest<Who> = {
    exchange,
    part,
    query,
    formats: formatsOf(headers['accept-language']),
    signedIn,
    cookie: (name) => cookies.read(headers.cookie, name),
    form: (action, fields, { hasFile } = { hasFile: false }) =>
      provenForm({ action, proof: proofOf(keys, binding, pathIn(action)), fields, hasFile }),
  };
  const given = await (form === undefined ? GET?.(request) : POST?.(request, form));
  if (given === undefined || !binding.isNew) return given;
  return { ...given, cookies: [...(given.cookies ?? []), cookies.write('form', binding.value)] };
}

/** What a proof is about: the address of a form without its query, which chooses a mode or a part of a list. */
function pathIn(action: string): string {
  return action.replace(/\?.*/, '');
}

/** Browsers name the origin of the page with every POST. One that names none is a program, or a page that hides where it is. */
function isFromOurPage({ isOwnOrigin }: PageHandlerOptions, { request: { headers } }: Exchange): boolean {
  return headers.origin !== undefined && isOwnOrigin(headers.origin, headers.host);
}
