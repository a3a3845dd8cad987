import { fillSlots, slotsOf, type TemplateSlots } from '@purser/text-runs/template-slots.ts';
import type { ChunkPattern, TextRun } from '@purser/text-runs/text-run.ts';
import { isShortFrame, isShortText, piecesOf } from '#gateway/output/frame-length.ts';
import { eventFrame } from '#gateway/wires/messages/blocks/events.ts';
import { DELTAS } from '#gateway/wires/messages/blocks/sink.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Chunk } from '#providers/port/completion.ts';

/** Relays the events of a vendor who speaks this wire. The first event and the last two are ours: they name the call and the charge. */
export interface NativeRelay {
  readonly relay: (event: JsonObject) => string;
  /** The frames of a run, in one string. Undefined if its chunks must be taken one by one. */
  readonly writeRun: (run: TextRun<Chunk>) => string | undefined;
  /** Ends the blocks that are open. */
  readonly end: () => string;
  /** How the vendor says that the answer ended. Undefined if it has not said it. */
  readonly last: () => VendorEnd | undefined;
}

interface VendorEnd {
  /** The members of the last event but one, beside the usage. */
  readonly members: JsonObject;
  readonly delta: JsonObject;
}

export function createNativeRelay(): NativeRelay {
  const open: unknown[] = [];
  const writeRun = createRunWriter();
  let last: VendorEnd | undefined;

  function note({ type: _type, delta, ...members }: JsonObject): void {
    const said = isJsonObject(delta) ? delta : {};
    last = { members: { ...last?.members, ...members }, delta: { ...last?.delta, ...given(said) } };
  }

  return {
    relay: (event) => {
      const { type, index } = event;
      if (type === 'message_delta') note(event);
      if (typeof type !== 'string' || !type.startsWith('content_block_')) return '';
      if (type === 'content_block_start' && !open.includes(index)) open.push(index);
      if (type === 'content_block_stop' && open.includes(index)) open.splice(open.indexOf(index), 1);
      return framesOf(type, event);
    },
    writeRun,
    end: () => {
      const frames = open.map((index) => framesOf('content_block_stop', { type: 'content_block_stop', index }));
      open.length = 0;
      return frames.join('');
    },
    last: () => last,
  };
}

/** Why an answer ended. Some servers say null in a later event. */
function given({ stop_reason = null, stop_sequence = null, stop_details = null }: JsonObject): JsonObject {
  return {
    ...(stop_reason !== null && { stop_reason }),
    ...(stop_sequence !== null && { stop_sequence }),
    ...(stop_details !== null && { stop_details }),
  };
}

/** An event as the vendor has it. Clients refuse long lines, so a long text is told by several. */
function framesOf(type: string, event: JsonObject): string {
  const frame = frameOf(type, event);
  const { delta } = event;
  if (isShortFrame(frame) || !isJsonObject(delta)) return frame;
  const known = Object.values(DELTAS).find((one) => one.type === delta['type']);
  const text = known && delta[known.member];
  if (known === undefined || typeof text !== 'string') return frame;
  return piecesOf(text)
    .map((piece) => frameOf(type, { ...event, delta: { ...delta, [known.member]: piece } }))
    .join('');
}

function frameOf(type: string, event: JsonObject): string {
  const { type: _type, ...members } = event;
  return eventFrame(type, `,${JSON.stringify(members).slice(1, -1)}`);
}

/** Writes runs into the frame of their pattern, which is made once. */
function createRunWriter(): NativeRelay['writeRun'] {
  let known: { readonly pattern: ChunkPattern<Chunk>; readonly slots: TemplateSlots | undefined } | undefined;

  return ({ pattern, texts }) => {
    if (!(texts[0] ?? []).every(isShortText)) return undefined;
    if (known?.pattern !== pattern) known = { pattern, slots: slotsFor(pattern) };
    return known.slots && fillSlots(known.slots, texts);
  };
}

function slotsFor(pattern: ChunkPattern<Chunk>): TemplateSlots | undefined {
  const [event, ...others] = pattern.marked().native ?? [];
  const type = event?.['type'];
  if (event === undefined || others.length > 0 || typeof type !== 'string') return undefined;
  return slotsOf(frameOf(type, event), pattern.marks);
}
