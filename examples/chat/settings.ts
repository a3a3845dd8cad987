import path from 'node:path';

/** What this example is started with. */
export interface Settings {
  readonly port: number;
  /**
   * The address at which browsers find this app, without a slash at its end. If it is undefined, the address is this
   * machine at the port.
   */
  readonly publicUrl: string | undefined;
  /** The root address of Purser. */
  readonly purserUrl: string;
  /** The API key of the app. If it is undefined, the key of the demo app is used. */
  readonly apiKey: string | undefined;
  /** The secret of the app's webhook, where `apiKey` is given. It is undefined if there is no webhook. */
  readonly webhookSecret: string | undefined;
  /** The data directory of the development service. The accounts of this example are kept there too. */
  readonly dataDirectory: string;
  readonly model: string;
}

const PORT = 3000;
const PORT_MAX = 65_535;

/** A fault that one sentence explains to the person who started this. */
export class StartFault extends Error {}

/** Throws `StartFault`. */
export function readSettings(): Settings {
  const { CHAT_PORT, CHAT_URL, CHAT_MODEL, PURSER_URL, PURSER_API_KEY, PURSER_WEBHOOK_SECRET, PURSER_DATA_DIR } =
    process.env;
  const port = Number(CHAT_PORT ?? PORT);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) throw new StartFault('CHAT_PORT is not a port.');
  return {
    port,
    publicUrl: CHAT_URL === undefined ? undefined : addressOf('CHAT_URL', CHAT_URL),
    purserUrl: addressOf('PURSER_URL', PURSER_URL ?? 'http://127.0.0.1:8787'),
    apiKey: PURSER_API_KEY,
    webhookSecret: PURSER_WEBHOOK_SECRET,
    dataDirectory: path.resolve(PURSER_DATA_DIR ?? '.purser'),
    model: CHAT_MODEL ?? 'demo',
  };
}

function addressOf(name: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new StartFault(`${name} is not a web address.`);
  return text.replace(/\/+$/, '');
}
