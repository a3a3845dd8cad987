/** The service's answers and events. A test compares these types with the service's own schemas. */

/** Every error code of the service. */
export type ErrorCode =
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | PaymentCode
  | 'APP_SUSPENDED'
  | 'MODEL_NOT_ENTITLED'
  | 'KEY_BUDGET_EXCEEDED'
  | 'NOT_FOUND'
  | 'PAYLOAD_TOO_LARGE'
  | 'TOO_MANY_REQUESTS'
  | 'CONCURRENT_STREAM_LIMIT'
  | 'UPSTREAM_THROTTLED'
  | 'INTERNAL_SERVER_ERROR'
  | 'UPSTREAM_PROVIDER_ERROR'
  | 'FORBIDDEN'
  | 'METHOD_NOT_ALLOWED'
  | 'CONFLICT';

/** The codes of a 402. */
export type PaymentCode = 'PAYMENT_REQUIRED' | 'APP_SPEND_CAP_EXCEEDED' | 'WALLET_SUSPENDED';

/** A user's wallet for the app. Amounts are whole micros, millionths of `currency`. */
export interface Balance {
  userId: string;
  balanceMicros: number;
  /** The amount that is set aside for running calls. */
  reservedMicros: number;
  /** The balance minus what is set aside: what a call can spend. */
  availableMicros: number;
  currency: string;
  /** The most that the user lets the app spend in a month. Null if there is no cap. */
  spendCapMicros: number | null;
  spentThisMonthMicros: number;
  status: 'active' | 'suspended';
}

/** A link to the page where a user connects a wallet to the app. */
export interface ConnectLink {
  /** The address to which you send the user's browser. */
  connectUrl: string;
  /** The time when the link expires, in ISO 8601 and UTC. */
  expiresAt: string;
}

/** What a user spent through the app in a month. */
export interface UsageSummary {
  userId: string;
  currency: string;
  /** The start of the period, in ISO 8601 and UTC. */
  periodStart: string;
  periodEnd: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  chargedMicros: number;
  models: ModelUsage[];
}

export interface ModelUsage {
  model: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  chargedMicros: number;
}

/** What a finished call used and cost. */
export interface Receipt {
  callId: string;
  correlationId: string | null;
  userId: string;
  /** The model of the call. It is null if the service broke down during the call, and so is `price`. */
  model: string | null;
  /** The time when the call was settled, in ISO 8601 and UTC. */
  at: string;
  outcome: 'answered' | 'abandoned' | 'failed' | 'expired';
  /** The service counted the tokens itself, because the provider did not say. */
  estimated: boolean;
  tokens: ReceiptTokens;
  /** Searches of the web by the provider, if there were any. */
  searches?: number | undefined;
  /** The price that was in force when the call began. */
  price: ReceiptPrice | null;
  heldMicros: number;
  chargedMicros: number;
  releasedMicros: number;
  /**
   * True if the call was charged after its hold had been released, because the gateway that answered was cut off. Its
   * wallet paid what it could.
   */
  late?: true | undefined;
  /** The session that a coding agent named in a header of the call, while it can be looked up. */
  session?: string | undefined;
  /** The wire by which a call of a session came. */
  wire?: string | undefined;
}

/** No token is in two parts. The optional parts are there if they are not 0. */
export interface ReceiptTokens {
  prompt: number;
  /** A part of `prompt`, like the next one. */
  cached: number;
  cacheWrite: number;
  completion: number;
  /** A part of `completion`. */
  reasoning: number;
  /** A part of `prompt`, like the next two: written to a cache for longer than usual. */
  cacheWriteLong?: number | undefined;
  audioInput?: number | undefined;
  imageInput?: number | undefined;
  /** A part of `completion`, like the next one. */
  audioOutput?: number | undefined;
  imageOutput?: number | undefined;
}

/** Prices of a million tokens. A kind without a price costs as much as input or output. */
interface ReceiptRates {
  cacheWriteLongMicrosPerMillion?: number | undefined;
  audioInputMicrosPerMillion?: number | undefined;
  imageInputMicrosPerMillion?: number | undefined;
  reasoningMicrosPerMillion?: number | undefined;
  audioOutputMicrosPerMillion?: number | undefined;
  imageOutputMicrosPerMillion?: number | undefined;
}

/** The prices of calls whose prompt has more tokens than this. */
export interface ReceiptTier extends ReceiptRates {
  aboveInputTokens: number;
  inputMicrosPerMillion: number;
  cachedInputMicrosPerMillion?: number | undefined;
  cacheWriteMicrosPerMillion?: number | undefined;
  outputMicrosPerMillion: number;
}

export interface ReceiptPrice extends ReceiptRates {
  version: number;
  inputMicrosPerMillion: number;
  cachedInputMicrosPerMillion: number;
  cacheWriteMicrosPerMillion: number;
  outputMicrosPerMillion: number;
  marginBasisPoints: number;
  marginMicrosPerCall?: number | undefined;
  microsPerCall?: number | undefined;
  microsPerSearch?: number | undefined;
  tiers?: ReceiptTier[] | undefined;
}

/** The available balance fell below the threshold of the app's subscription. */
export type BalanceLowEvent = Event<
  'balance.low',
  { userId: string; availableMicros: number; thresholdMicros: number; currency: string }
>;
/** The user paid, and the money is in the wallet. */
export type TopupCompletedEvent = Event<
  'topup.completed',
  { userId: string; balanceMicros: number; availableMicros: number; currency: string }
>;
/** The user connected a wallet to the app for the first time. */
export type ConnectionCreatedEvent = Event<'connection.created', { userId: string; connectedAt: string }>;

/** An event as endpoints receive it. `type` says which one it is. */
export type WebhookEvent = BalanceLowEvent | TopupCompletedEvent | ConnectionCreatedEvent;

interface Event<Type extends string, Data> {
  /** The same in every delivery of the event. Process each id once. */
  id: string;
  type: Type;
  /** When it happened, not when it was sent. ISO 8601, UTC. */
  createdAt: string;
  appId: string;
  data: Data;
}
