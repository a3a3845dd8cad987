/** Where a client is pointed, and for whom it calls. */
export interface Address {
  readonly baseUrl: string;
  readonly key: string;
  readonly user: string;
}

export interface Tool {
  readonly name: string;
  /** JSON schema of its arguments. */
  readonly parameters: JsonSchema;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A message in words that every client's own API can say. An image is a data URL. */
export type Message =
  | { readonly role: 'user'; readonly text: string; readonly image?: string }
  | { readonly role: 'assistant'; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly call: ToolCall; readonly result: string };

/** One call that a scenario has a client make. */
export interface Ask {
  readonly messages: readonly Message[];
  readonly stream: boolean;
  /** Whether to ask for the usage of a stream, where the client lets its user choose. */
  readonly usage: boolean;
  readonly tools?: readonly Tool[];
  /** The answer is to be JSON of this shape. */
  readonly schema?: JsonSchema;
  /** Leaves the stream as the client's documentation says, once text has come. */
  readonly leaves?: boolean;
}

/** What the client's user came to know of the call. */
export interface Told {
  /** All that came, also before a failure. An answer of a shape that was asked for, as JSON. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Undefined or null where the client knows none. */
  readonly usage?: { readonly prompt: number; readonly completion: number } | null | undefined;
  /** What the client raised, if anything. */
  readonly failure?: Failure | null | undefined;
}

/** What can be read from the error that a client raises, without looking at the wire. */
export interface Failure {
  readonly message: string;
  readonly status?: number | null | undefined;
  readonly code?: string | null | undefined;
  /** The top-up link in the error itself, and in the headers that it keeps. */
  readonly link?: string | null | undefined;
  readonly linkInHeaders?: string | null | undefined;
}

export interface RunningClient {
  readonly ask: (address: Address, ask: Ask) => Promise<Told>;
  readonly close: () => Promise<void>;
}

/**
 * An unmodified client library, as its documentation has it used. A new one is a file beside this and a line in
 * `clients.ts`; `npm test` then runs every scenario with it.
 */
export interface StockClient {
  readonly name: string;
  /** As their registry names them; the last is the one that is pointed at Purser. */
  readonly packages: readonly string[];
  /** The file whose lines between the settings marks are shown in `docs/CLIENTS.md`. */
  readonly settings: URL;
  /** By scenario, what is seen instead of `ok`, and why. */
  readonly differs: Readonly<Record<string, Difference>>;
  /** Versions that were run, of a client that is not among our own packages. */
  readonly seenWith?: readonly string[];
  /** It makes one call at a time. */
  readonly isSerial?: boolean;
  readonly start: () => Promise<RunningClient>;
}

export interface Difference {
  readonly seen: string;
  readonly why: string;
}

/** A client that runs in the process of the test. */
export function inThisProcess(ask: RunningClient['ask']): () => Promise<RunningClient> {
  return async () => ({ ask, close: async () => {} });
}

/** The shape of our error envelope's `error`, as far as scenarios look at it. */
export interface ErrorFields {
  readonly code?: string;
  readonly topupUrl?: string;
}
