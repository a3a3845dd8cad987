import { z } from 'zod';
import type { CellClient } from '#cells/routing/cell-client.ts';
import type { CellRequests } from '#cells/routing/cell-request.ts';
import type { CellMap } from '#cells/routing/map.ts';
import { readBody, knownCallers } from '#http/requests/read-body.ts';
import { type Exchange, sendJson, sendNowhere, sendRefusal } from '#http/answers/respond.ts';
import { CellAway } from '#kernel/faults/cell-away.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { OtherCell } from '#kernel/values/slot.ts';

/** What gateways of one cell may ask those of another. It is for them alone, so the document of the API does not have it. */
export interface CellQuestion<Asked, Answer> {
  readonly path: `/cells/${string}`;
  readonly asked: z.ZodType<Asked>;
  readonly answer: z.ZodType<Answer>;
  /** The largest body of a question, in bytes. */
  readonly bytesMax: number;
  /** How long the cell that asks waits for the answer, in milliseconds. */
  readonly waitMs: number;
}

/** A question with what answers it in this cell. */
export interface CellRoute {
  readonly path: string;
  readonly handle: (exchange: Exchange) => Promise<void>;
}

/** How this cell asks others, and answers them. There are none without PURSER_CELL. */
export interface CellPeers {
  /** The name of this cell. */
  readonly own: string;
  readonly map: CellMap;
  /** Asks a gateway of another cell. Throws `CellAway`. Never asks twice. */
  readonly ask: <Asked, Answer>(
    cell: OtherCell,
    question: CellQuestion<Asked, Answer>,
    asked: Asked,
  ) => Promise<Answer>;
  /**
   * Answers the question of another cell. Everybody else gets the 404 of an address that leads nowhere, and so does a question that has
   * no answer (`undefined`).
   */
  readonly answer: <Asked, Answer>(
    question: CellQuestion<Asked, Answer>,
    answerOf: (asked: Asked, from: string) => Promise<Answer | undefined>,
  ) => CellRoute;
}

/** Each cell has a few processes, and each of them a few questions under way. */
const IN_FLIGHT_MAX = 256;

/** Answers what other cells have signed. */
export const answerBy =
  (requests: CellRequests): CellPeers['answer'] =>
  (question, answerOf) => {
    const { path, bytesMax } = question;
    let inFlight = 0;

    async function answer(exchange: Exchange): Promise<void> {
      const signed = requests.read(exchange.request.headers, exchange.path);
      if (signed === undefined) return sendNowhere(exchange);
      const body = await readBody(exchange, { arriving: knownCallers, caller: signed.from, most: bytesMax });
      if (body === undefined) return;
      if (body instanceof Refusal) return sendRefusal(exchange, body);
      const asked = signed.covers(body) ? question.asked.safeParse(parsed(body)).data : undefined;
      const found = asked === undefined ? undefined : await answerOf(asked, signed.from);
      return found === undefined
        ? sendNowhere(exchange)
        : sendJson(exchange.response, 200, z.encode(question.answer, found));
    }

    return {
      path,
      handle: async (exchange) => {
        if (inFlight >= IN_FLIGHT_MAX) return sendRefusal(exchange, tooMany());
        inFlight += 1;
        await answer(exchange).finally(() => (inFlight -= 1));
      },
    };
  };

/** A fault of `JSON.parse` shows a part of the text, and is logged. */
function parsed(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

function tooMany(): Refusal<'TOO_MANY_REQUESTS'> {
  return refuse('TOO_MANY_REQUESTS', 'Too many requests of other cells are under way.', { retryAfterSeconds: 1 });
}

export const askBy =
  (client: CellClient): CellPeers['ask'] =>
  async (cell, question, asked) => {
    const { path, answer, waitMs } = question;
    const body = JSON.stringify(z.encode(question.asked, asked));
    try {
      return answer.parse(parsed(await client.post(cell, path, body, waitMs)));
    } catch (cause) {
      throw new CellAway(cell.name, cause);
    }
  };
