import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { createEventReader } from '#providers/transport/sse.ts';
import type { VendorFetch } from '#providers/transport/vendor-fetch.ts';

/** What a vendor's library is given in the place of what came. It has the state of one answer. */
export interface AnswerFit {
  /** The names of events that the vendor sends. Others are passed over, and are no fault. */
  readonly names: ReadonlySet<unknown>;
  /** What an event of a stream becomes. None leaves it out. */
  readonly event: (event: JsonObject) => readonly JsonObject[];
  /** The events that a stream still needs which lacks nothing else. Undefined if it has broken off. */
  readonly rest: () => readonly JsonObject[] | undefined;
  readonly whole: (answer: JsonObject) => JsonObject;
}

/** A `fetch` whose good answers a library can read. The state is made anew for each. */
export function fitFetch(fetch: VendorFetch, createFit: () => AnswerFit): VendorFetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { ok, status, headers, body } = response;
    if (!ok || body === null) return response;
    const kept = new Headers(headers);
    kept.delete('content-length');
    return new Response(fittedBody(body, createFit()), { status, headers: kept });
  };
}

/** Nothing is read before it is wanted (back-pressure). */
function fittedBody(body: ReadableStream<Uint8Array>, fit: AnswerFit): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const texts = createTexts(fit);
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        let isOver = false;
        for (let text = ''; text === '' && !isOver; ) {
          try {
            const { done, value } = await reader.read();
            text = done ? texts.end() : texts.feed(decoder.decode(value, { stream: true }));
            isOver = done;
          } catch (fault) {
            const rest = texts.lost();
            if (rest === undefined) return controller.error(fault);
            text = rest;
            isOver = true;
          }
          if (text !== '') controller.enqueue(encoder.encode(text));
        }
        if (isOver) controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The text of a body as it comes, and what the library gets of it. A body that begins like JSON is one answer. */
function createTexts(fit: AnswerFit) {
  let isEvents: boolean | undefined;
  let whole = '';
  let out = '';
  const events = createEventReader({
    onEvent: (data, _raw, name) => void (out += fittedEvent(fit, data, name)),
    skim: (_text, at) => at,
  });

  function taken(): string {
    const text = out;
    out = '';
    return text;
  }

  function rest(): string | undefined {
    return isEvents === true
      ? fit
          .rest()
          ?.map((event) => framed(JSON.stringify(event)))
          .join('')
      : undefined;
  }

  return {
    feed: (text: string): string => {
      // Blanks before an answer say nothing, and are not kept: a server could send them for ever.
      whole = isEvents === undefined && whole === '' ? text.trimStart() : whole + text;
      const [first] = isEvents === undefined ? whole : [];
      if (first !== undefined) isEvents = first !== '{' && first !== '[';
      if (isEvents !== true) return '';
      events.feed(whole);
      whole = '';
      return taken();
    },
    end: (): string => {
      if (isEvents !== true) {
        const answer = parseJson(whole);
        return isJsonObject(answer) ? JSON.stringify(fit.whole(answer)) : whole;
      }
      events.end();
      return taken() + (rest() ?? '');
    },
    /** What the library gets when the connection is lost. Undefined: the failure. */
    lost: rest,
  };
}

function fittedEvent(fit: AnswerFit, data: string, name: string | undefined): string {
  if (data === '') return '';
  const event = parseJson(data);
  const isOther = name !== undefined && !fit.names.has(name);
  // Behind the end, a torn event takes nothing back (CC-11).
  if (!isJsonObject(event)) return isOther || fit.rest() !== undefined ? '' : framed(data);
  return fit
    .event(event)
    .map((fitted) => framed(fitted === event ? data : JSON.stringify(fitted)))
    .join('');
}

function framed(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
