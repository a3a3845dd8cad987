import { FINISH_REASONS, type FinishReason } from '#providers/port/completion.ts';

/** The words of vendors and servers, in small letters and without anything between their parts, by what they mean. */
const WORDS: Readonly<Record<FinishReason | 'failed', string>> = {
  stop: 'endturn stopsequence eos eostoken complete completed done finished end',
  length: `maxtokens maxoutputtokens maxcompletiontokens maxnewtokens maxlength maxlen modellength lengthlimit tokenlimit errorlimit timelimit
    maxcontext contextlength contextlengthexceeded contextwindowexceeded modelcontextwindowexceeded`,
  tool_calls: 'tooluse toolcall',
  function_call: '',
  content_filter: `contentfiltered safety recitation sensitive refusal prohibitedcontent blocklist spii language modelarmor errortoxic
    imagesafety imageprohibitedcontent imagerecitation guardrailintervened`,
  failed: `error modelerror servererror internalerror internalservererror networkerror failed timeout abort aborted cancelled
    canceled usercancel insufficientsystemresource other unspecified noimage imageother unexpectedtoolcall toomanytoolcalls
    malformedfunctioncall malformedresponse malformedmodeloutput malformedtooluse missingthoughtsignature`,
};

type Meaning = keyof typeof WORDS;

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...Object.entries(WORDS).flatMap(([meaning, words]) =>
    words
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => [word, meaning as Meaning] as const),
  ),
  // The words of the format, as they are and in other spellings.
  ...FINISH_REASONS.flatMap((reason) => [[reason, reason] as const, [bare(reason), reason] as const]),
]);

/** What a word means wherever it comes from: a reason to finish, or that the answer broke off. Undefined for an unknown word. */
export function meaningOfReason(word: string): Meaning | undefined {
  return MEANINGS.get(word) ?? MEANINGS.get(bare(word));
}

/** `FINISH_REASON_MAX_TOKENS`, `maxTokens` and `max-tokens` are one word. */
function bare(word: string): string {
  return word
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^(?:finish)?reason/, '');
}
