import type { Mutant } from '../mutant.ts';
import {
  alerts,
  answering,
  connecting,
  connectingPages,
  connections,
  connectLinks,
  connectRoute,
  consenting,
  leadingBack,
  linkReading,
  links,
  moving,
  releasedWallet,
  releasing,
  visibleFields,
  walletDays,
  walletOnPages,
  walletSettings,
} from './places.ts';

const RELEASED = 'WA-15 a released wallet keeps its money, and only a link made afterwards gives it to the next person';
const MOVED = 'WA-15 a person moved to another e-mail keeps their wallets, and nobody signs in by the old one';

/** Faults in who owns a wallet, who may spend from it, where links lead, and what an app sees of the operator's business. */
export const CONNECTION_FAULTS: readonly Mutant[] = [
  {
    id: 'alert-is-sent-again',
    clause: 'ON-04',
    edits: [
      alerts('case when a.month = this_month then a.told else 0 end', '0'),
      alerts(' and (a.month <> this_month or a.told < d.share)', ''),
    ],
    killer: walletSettings(
      'ON-04 an owner gets a mail for each chosen share of the cap, once a month, from processes that run and crash',
    ),
  },
  {
    id: 'day-counts-top-ups-as-calls',
    clause: 'ON-04',
    edits: [walletDays(' + booked.change - newest', ' - newest')],
    killer: walletOnPages('ON-04 the calls of a day are one line, which is right for days of any size'),
  },
  {
    id: 'another-identity-takes-the-wallet',
    clause: 'BI-04',
    edits: [
      connections(`if (row?.identity_id !== identityId) return 'foreign';`, `if (row === undefined) return 'foreign';`),
    ],
    killer: consenting('BI-04 a wallet belongs to the first identity that consents: another one changes nothing'),
  },
  {
    id: 'link-tells-who-has-left',
    clause: 'WA-02',
    edits: [connections('row !== undefined && wallet?.isConnected === true', 'row !== undefined')],
    killer: connectingPages(
      'WA-02 a link of a user who has disconnected looks to another identity like a stranger’s, until they try to take the account over',
    ),
  },
  {
    id: 'consent-without-its-cap',
    clause: 'ON-01',
    edits: [connections('  await wallets.setCap({ appId, userId, cap });\n', '')],
    killer: consenting('ON-04 setting a cap ends a pause, and so does consent'),
  },
  {
    id: 'pause-forgets-the-cap',
    clause: 'ON-04',
    edits: [connections('        if (row.is_paused === isPaused) return;\n', '')],
    killer: consenting('ON-04 a pause sets the cap to zero, and resuming restores the earlier cap'),
  },
  {
    id: 'link-lasts-a-second-longer',
    clause: 'BI-04',
    edits: [links('expiry + graceSeconds <= nowSeconds', 'expiry + graceSeconds < nowSeconds')],
    killer: linkReading('BI-04 a link works for fifteen minutes, to the second'),
  },
  {
    id: 'link-of-one-page-opens-another',
    clause: 'BI-04',
    edits: [links('`link ${page} ${Math.floor(', '`link ${Math.floor(')],
    killer: linkReading('BI-04 a link does not work on another page or under another secret'),
  },
  {
    id: 'link-made-anew-pays-again',
    clause: 'BI-04',
    edits: [links(`digest: Buffer.from(digest, 'base64url'), `, '')],
    killer: linkReading(
      'BI-04 a renewed link says the same, is used up with the first, and ends half an hour after it',
    ),
  },
  {
    id: 'redirect-by-its-beginning',
    clause: 'BI-02',
    edits: [
      connectRoute(
        'app?.redirectUris.includes(asked.redirectUri) === true',
        'app?.redirectUris.some((one) => asked.redirectUri.startsWith(one)) === true',
      ),
    ],
    killer: connecting(
      'BI-02 more than sixty ways to lead somebody elsewhere are refused, and the answer repeats none of them',
    ),
  },
  {
    id: 'app-hears-connected-before-it-is',
    clause: 'BI-02',
    edits: [connectLinks(`      if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);\n`, '')],
    killer: leadingBack('BI-02 an app hears that a user is connected only if that is true'),
  },
  {
    id: 'old-link-takes-a-released-wallet',
    clause: 'WA-15',
    edits: [
      releasedWallet(
        'insert into connections.releases (app_id, user_id) values (p_app, p_user)',
        `insert into connections.releases (app_id, user_id, released_at) values (p_app, p_user, '-infinity')`,
      ),
    ],
    killer: leadingBack(RELEASED),
  },
  {
    id: 'released-wallet-still-spends',
    clause: 'WA-15',
    edits: [releasing('  await wallets.setConnected({ ...wallet, isConnected: false });\n', '')],
    killer: leadingBack(RELEASED),
  },
  {
    id: 'moved-person-stays-signed-in',
    clause: 'WA-15',
    edits: [moving('  await deleteSessions(tx, identityId, undefined);\n', '')],
    killer: leadingBack(MOVED),
  },
  {
    id: 'moved-person-keeps-a-passkey',
    clause: 'WA-15',
    edits: [moving('  await deletePasskeysOf(tx, identityId);\n', '')],
    killer: leadingBack(MOVED),
  },
  {
    id: 'purchase-price-shown',
    clause: 'CC-21',
    edits: [visibleFields('return visibleObject(usage, USAGE);', 'return usage;')],
    killer: answering(
      'CC-21 an app gets the fields of the format, plain and streamed, and none that shows what the operator pays',
    ),
  },
];
