import type { JsonObject } from '#kernel/text/json.ts';
import { saidIn } from '#providers/openai-responses/output-items.ts';

type Deltas = readonly JsonObject[];

/** What the messages of one stream say. They follow one another, so their characters can be counted without regard to which has them. */
export function createMessageDeltas() {
  /** How much was told, and how much the messages that are whole have. */
  const sent = { content: 0, refusal: 0, annotations: 0 };
  const whole = { content: 0, refusal: 0, annotations: 0 };

  function say(name: 'content' | 'refusal', text: string): Deltas {
    sent[name] += text.length;
    return text === '' ? [] : [{ [name]: text }];
  }

  function cite(annotations: readonly JsonObject[]): Deltas {
    sent.annotations += annotations.length;
    return annotations.length === 0 ? [] : [{ annotations }];
  }

  return {
    /** More of a text. */
    say,
    cite,
    /** The characters of text of the messages that are whole. */
    before: () => whole.content,
    /** The next messages are all of them, from the first one on. */
    again: (): void => {
      Object.assign(whole, { content: 0, refusal: 0, annotations: 0 });
    },
    /** What a message and those before it say beyond what was told. */
    restOf: (message: JsonObject): Deltas => {
      const { content, refusal, annotations } = saidIn(message, whole.content);
      whole.content += content.length;
      whole.refusal += refusal.length;
      whole.annotations += annotations.length;
      const untold = Math.max(0, whole.annotations - sent.annotations);
      return [
        ...say('content', lastOf(content, whole.content - sent.content)),
        ...say('refusal', lastOf(refusal, whole.refusal - sent.refusal)),
        ...cite(annotations.slice(Math.max(0, annotations.length - untold))),
      ];
    },
  };
}

/** The last so many characters of a text. */
function lastOf(text: string, characters: number): string {
  return characters <= 0 ? '' : text.slice(Math.max(0, text.length - characters));
}
