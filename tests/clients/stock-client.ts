/** The address a client calls, and the user it calls for. */
export interface Address {
  readonly baseUrl: string;
  readonly key: string;
  readonly user: string;
}

interface Tool {
  readonly name: string;
  /** The JSON schema of the arguments. */
  readonly parameters: JsonSchema;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A message in a form that every client's own API can express. An image is a data URL. */
export type Message =
  | { readonly role: 'user'; readonly text: string; readonly image?: string }
  | { readonly role: 'assistant'; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly call: ToolCall; readonly result: string };

/** One call that a scenario has a client make. */
export interface Ask {
  readonly messages: readonly Message[];
  readonly stream: boolean;
  /** Whether to request the usage of a stream, if the client lets its user choose. */
  readonly usage: boolean;
  readonly tools?: readonly Tool[];
  /** The answer must be JSON of this shape. */
  readonly schema?: JsonSchema;
  /** Leaves the stream as the client's documentation says, after some text has arrived. */
  readonly leaves?: boolean;
}

/** What the client's user learned from the call. */
export interface Told {
  /** All the text that arrived, even before a failure. If a shape was requested, its JSON. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** The usage that the client reports. It is undefined or null if the client does not report it. */
  readonly usage?: { readonly prompt: number; readonly completion: number } | null | undefined;
  /** The error that the client raised, if any. */
  readonly failure?: Failure | null | undefined;
}

/** What can be read from the error that a client raises, without looking at the wire. */
export interface Failure {
  readonly message: string;
  readonly status?: number | null | undefined;
  readonly code?: string | null | undefined;
  /** The top-up link in the error itself, and in the headers that the error keeps. */
  readonly link?: string | null | undefined;
  readonly linkInHeaders?: string | null | undefined;
}

export interface RunningClient {
  readonly ask: (address: Address, ask: Ask) => Promise<Told>;
  readonly close: () => Promise<void>;
}

/**
 * An unmodified client library, used as its documentation says. To add one, write a file next to this one and add a line to
 * `clients.ts`; `npm test` then runs every scenario with it.
 */
export interface StockClient {
  readonly name: string;
  /** Package names as in their registry. The last is the one that is pointed at Purser. */
  readonly packages: readonly string[];
  /** The file whose lines between the settings marks appear in `docs/CLIENTS.md`. */
  readonly settings: URL;
  /** By scenario, the observation that is expected instead of `ok`, and the reason. */
  readonly differs: Readonly<Record<string, Difference>>;
  /** The versions that were run, for a client that is not among our own packages. */
  readonly seenWith?: readonly string[];
  /** The client makes one call at a time. */
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
