import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Balance, WebhookEvent } from '../../packages/sdk/src/wire.ts';
import { ROOT } from '../../tools/toolchain.ts';

/** Cases that the SDK and the Python package must decide alike. Both packages' tests read this file. */
interface SdkVectors {
  readonly webhooks: readonly {
    readonly name: string;
    readonly body: string;
    readonly signature: string | null;
    readonly secrets: readonly string[];
    readonly nowSeconds: number;
    readonly toleranceSeconds?: number;
    /** One of these two. */
    readonly event?: { readonly id: string; readonly type: string };
    readonly reason?: string;
  }[];
  readonly signed: {
    readonly event: WebhookEvent;
    readonly secret: string;
    readonly seconds: number;
    readonly attempt: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly answers: readonly {
    readonly name: string;
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly error: string;
    readonly code: string;
    readonly message: string;
    readonly correlationId: string;
    readonly topupUrl?: string;
  }[];
  readonly addresses: {
    readonly accepted: readonly (readonly [string, string])[];
    readonly refused: readonly string[];
  };
  readonly keys: { readonly refused: readonly string[] };
  readonly users: { readonly accepted: readonly string[]; readonly refused: readonly string[] };
  readonly topUps: readonly {
    readonly name: string;
    readonly code: 'PAYMENT_REQUIRED' | 'APP_SPEND_CAP_EXCEEDED';
    /** What the balance shows at each look: fields of it, no wallet, no connection, or too many requests. */
    readonly looks: readonly (Partial<Balance> | '402' | 'offline' | '429')[];
  }[];
}

export const VECTORS = JSON.parse(readFileSync(path.join(ROOT, 'packages/sdk/vectors.json'), 'utf8')) as SdkVectors;
