/**
 * Takes out of a text that comes in pieces the pictures that its server has written into it, as addresses that hold all of them. What may be
 * the beginning of one is held back until it is known.
 */
export interface InlinePictures {
  /** The text that is none, as far as it is known. */
  readonly take: (text: string) => string;
  /** What is held back and was not given out yet. It counts as text until it is a picture. */
  readonly flush: () => string;
  readonly count: () => number;
}

const OPENING = 'data:image/';
/** A shorter one is an example. */
const BODY_CHARACTERS_MIN = 48;
const WHOLE = new RegExp(String.raw`data:image/[\w.+-]{1,40};base64,[\w+/=]{${BODY_CHARACTERS_MIN},}`, 'y');
const BODY = /^[\w+/=]*/;
/** The rest of what may become one, behind the opening. */
const PART = new RegExp(String.raw`^[\w.+-]{0,40}(?:;\w{0,6}|;base64,[\w+/=]{0,${BODY_CHARACTERS_MIN - 1}})?$`);

export function createInlinePictures(): InlinePictures {
  let pictures = 0;
  let isInside = false;
  let held = '';
  /** How many characters of what is held were given out. */
  let given = 0;

  /** `text` begins with the opening. Returns where the text goes on; undefined if only what follows tells. */
  function passed(text: string): number | undefined {
    WHOLE.lastIndex = 0;
    if (WHOLE.test(text)) {
      pictures += 1;
      return WHOLE.lastIndex;
    }
    return PART.test(text.slice(OPENING.length)) ? undefined : 0;
  }

  function scan(text: string): string {
    let out = '';
    let rest = text;
    for (let at = openingIn(rest); at !== -1; at = openingIn(rest)) {
      const found = rest.slice(at);
      const end = found.startsWith(OPENING) ? passed(found) : undefined;
      out += rest.slice(0, at);
      if (end === undefined) {
        held = found;
        return out;
      }
      if (end === 0) out += OPENING;
      rest = found.slice(end === 0 ? OPENING.length : end);
      isInside = end > 0 && rest === '';
    }
    return out + rest;
  }

  return {
    take: (text) => {
      if (isInside) {
        const length = BODY.exec(text)?.[0].length ?? 0;
        if (length === text.length) return '';
        isInside = false;
        return scan(text.slice(length));
      }
      if (held === '') return openingIn(text) === -1 ? text : scan(text);
      const [before, seen] = [held, given];
      [held, given] = ['', 0];
      const taken = scan(before + text);
      if (taken === '') given = Math.min(seen, held.length);
      return taken.slice(seen);
    },
    flush: () => {
      const more = held.slice(given);
      given = held.length;
      return more;
    },
    count: () => pictures,
  };
}

/** Where a text has the opening of a picture, or ends with a part of it; -1 if nowhere. */
function openingIn(text: string): number {
  const whole = text.length < OPENING.length ? -1 : text.indexOf(OPENING);
  if (whole !== -1) return whole;
  const last = text.lastIndexOf(OPENING.charAt(0));
  return last !== -1 && text.length - last < OPENING.length && OPENING.startsWith(text.slice(last)) ? last : -1;
}
