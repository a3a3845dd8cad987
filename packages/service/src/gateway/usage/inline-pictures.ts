const OPENING = 'data:image/';
/** A shorter one is an example. */
const BODY_CHARACTERS_MIN = 48;
const WHOLE = new RegExp(String.raw`data:image/[\w.+-]{1,40};base64,[\w+/=]{${BODY_CHARACTERS_MIN},}`, 'y');
const BODY = /^[\w+/=]*/;
/** The rest of what may become one, behind the opening. */
const PART = new RegExp(String.raw`^[\w.+-]{0,40}(?:;\w{0,6}|;base64,[\w+/=]{0,${BODY_CHARACTERS_MIN - 1}})?$`);

/**
 * Takes out of a text that comes in pieces the pictures that its server has written into it, as addresses that hold all of them. What may be
 * the beginning of one is held back until it is known. A class, because there is one for each choice of every answer.
 */
export class InlinePictures {
  #pictures = 0;
  #isInside = false;
  #held = '';
  /** How many characters of what is held were given out. */
  #given = 0;

  /** The text that is none, as far as it is known. */
  take(text: string): string {
    if (this.#isInside) {
      const length = BODY.exec(text)?.[0].length ?? 0;
      if (length === text.length) return '';
      this.#isInside = false;
      return this.#scan(text.slice(length));
    }
    if (this.#held === '') return openingIn(text) === -1 ? text : this.#scan(text);
    const before = this.#held;
    const seen = this.#given;
    this.#held = '';
    this.#given = 0;
    const taken = this.#scan(before + text);
    if (taken === '') this.#given = Math.min(seen, this.#held.length);
    return taken.slice(seen);
  }

  /** What is held back and was not given out yet. It counts as text until it is a picture. */
  flush(): string {
    const more = this.#held.slice(this.#given);
    this.#given = this.#held.length;
    return more;
  }

  count(): number {
    return this.#pictures;
  }

  #scan(text: string): string {
    let out = '';
    let rest = text;
    for (let at = openingIn(rest); at !== -1; at = openingIn(rest)) {
      const found = rest.slice(at);
      const end = found.startsWith(OPENING) ? this.#passed(found) : undefined;
      out += rest.slice(0, at);
      if (end === undefined) {
        this.#held = found;
        return out;
      }
      if (end === 0) out += OPENING;
      rest = found.slice(end === 0 ? OPENING.length : end);
      this.#isInside = end > 0 && rest === '';
    }
    return out + rest;
  }

  /** `text` begins with the opening. Returns where the text goes on; undefined if only what follows tells. */
  #passed(text: string): number | undefined {
    WHOLE.lastIndex = 0;
    if (WHOLE.test(text)) {
      this.#pictures += 1;
      return WHOLE.lastIndex;
    }
    return PART.test(text.slice(OPENING.length)) ? undefined : 0;
  }
}

/** Where a text has the opening of a picture, or ends with a part of it; -1 if nowhere. */
function openingIn(text: string): number {
  const whole = text.length < OPENING.length ? -1 : text.indexOf(OPENING);
  if (whole !== -1) return whole;
  const last = text.lastIndexOf(OPENING.charAt(0));
  return last !== -1 && text.length - last < OPENING.length && OPENING.startsWith(text.slice(last)) ? last : -1;
}
