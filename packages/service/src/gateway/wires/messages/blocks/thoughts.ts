import type { Echo } from '#gateway/wires/messages/conversation/echo.ts';
import { type Block, type BlockQueue, EMPTY_THINKING } from '#gateway/wires/messages/blocks/queue.ts';
import { hiddenData, signatureOf } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import type { Thought } from '#gateway/output/output-parts.ts';
import { createThoughtBlock, type ThoughtBlock } from '#gateway/output/thought-block.ts';

interface Draft {
  readonly thought: ThoughtBlock;
  /** Its text, unless that has been written. */
  text: string;
  field: string | undefined;
}

/**
 * The thoughts of an answer. Callers who asked for them get them as they come, or without their text if they want it hidden. Those who
 * did not ask get only what a vendor wants back with a call, because many take the first block for the answer.
 */
export function createThoughts(queue: BlockQueue, thinking: Echo['thinking']) {
  const isShown = thinking === 'shown';
  const kept: Draft[] = [];
  /** The thought that is written as it comes. */
  let open: { readonly draft: Draft; readonly block: Block | undefined } | undefined;

  function begin(key: unknown, data: string | undefined): readonly [string, Draft] {
    const draft: Draft = { thought: createThoughtBlock(key), text: '', field: undefined };
    if (data !== undefined) return [queue.begin('redacted_thinking', { type: 'redacted_thinking', data }), draft];
    const frames = queue.begin('thinking', EMPTY_THINKING, () => signature(draft, true));
    open = { draft, block: queue.last() };
    return [frames, draft];
  }

  function isOpenFor(key: unknown): boolean {
    return open?.block !== undefined && open.block === queue.last() && open.draft.thought.isOf(key);
  }

  function show({ key, text, detail, field }: Thought): string {
    const data = detail && hiddenData(detail);
    const [begun, draft] =
      open !== undefined && data === undefined && isOpenFor(key) ? (['', open.draft] as const) : begin(key, data);
    note(draft, detail, field);
    return text === '' ? begun : begun + queue.text(queue.last(), text);
  }

  function keep({ key, text, detail, field }: Thought): void {
    let draft = kept.at(-1);
    if (draft?.thought.isOf(key) !== true) {
      draft = { thought: createThoughtBlock(key), text: '', field: undefined };
      kept.push(draft);
    }
    note(draft, detail, field);
    draft.text += text;
  }

  function writeKept(): string {
    let frames = '';
    for (const draft of kept.splice(0)) {
      const [first] = draft.thought.sealed() ?? [];
      const data = first && hiddenData(first);
      if (data !== undefined) frames += queue.begin('redacted_thinking', { type: 'redacted_thinking', data });
      else {
        const sign = signature(draft, false);
        if (sign !== '') frames += queue.signed(sign);
      }
    }
    return frames;
  }

  return {
    take: (thought: Thought): string => {
      if (isShown) return show(thought);
      keep(thought);
      return '';
    },
    isMore: ({ key, text: said, detail }: Thought, text: string): boolean =>
      isShown && said === text && detail === undefined && isOpenFor(key),
    beforeText: (): string => (thinking === 'hidden' ? writeKept() : ''),
    beforeCall: writeKept,
    /** Leaves what nobody wants back: the answer is over. */
    end: (): void => void kept.splice(0),
  };
}

function note(draft: Draft, detail: Thought['detail'], field: string | undefined): void {
  draft.field ??= field;
  if (detail !== undefined) draft.thought.add(detail);
}

function signature({ thought, text, field }: Draft, isShown: boolean): string {
  return signatureOf({ sealed: thought.sealed(), text, field, isShown });
}
