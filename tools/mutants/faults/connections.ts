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
  dayLines,
  leadingBack,
  linkReading,
  links,
  movementsAddUp,
  moving,
  releasedWallet,
  releasing,
  visibleFields,
  walletDays,
  walletOnPages,
  walletSettings,
} from './places.ts';

const RELEASED = 'WA-15 a released wallet keeps its money for a later link’s user';
const MOVED = 'WA-15 a person moved to another e-mail keeps their wallets';

/** Faults in who owns a wallet, who may spend from it, where links lead, and what an app sees of the operator's business. */
export const CONNECTION_FAULTS: readonly Mutant[] = [
  {
    id: 'alert-is-sent-again',
    clause: 'ON-04',
    edits: [
      alerts('case when a.month = this_month then a.told else 0 end', '0'),
      alerts(' and (a.month <> this_month or a.told < d.share)', ''),
    ],
    killer: walletSettings('ON-04 an owner gets one mail per cap share and month'),
  },
  {
    id: 'day-counts-top-ups-as-calls',
    clause: 'ON-04',
    edits: [walletDays(' + booked.change - newest', ' - newest')],
    killer: walletOnPages('ON-04 calls of a day between other movements are one correct line'),
  },
  {
    id: 'line-starts-where-the-one-above-ends',
    clause: 'ON-04',
    edits: [dayLines('balance: before(movement) };', 'balance: movement.balanceAfter };')],
    killer: movementsAddUp('ON-04 every list of movements adds up line by line: seed 1'),
  },
  {
    id: 'another-identity-takes-the-wallet',
    clause: 'BI-04',
    edits: [
      connections(`if (row?.identity_id !== identityId) return 'foreign';`, `if (row === undefined) return 'foreign';`),
    ],
    killer: consenting('BI-04 a wallet belongs to the first identity that consents'),
  },
  {
    id: 'link-tells-who-has-left',
    clause: 'WA-02',
    edits: [connections('row !== undefined && wallet?.isConnected === true', 'row !== undefined')],
    killer: connectingPages('WA-02 a connect link shows a stranger the same after someone connects or leaves'),
  },
  {
    id: 'consent-without-its-cap',
    clause: 'ON-01',
    edits: [connections('  await wallets.setCap({ appId, userId, cap });\n', '')],
    killer: consenting('ON-04 setting a cap or consenting ends a pause'),
  },
  {
    id: 'pause-forgets-the-cap',
    clause: 'ON-04',
    edits: [connections('        if (row.is_paused === isPaused) return;\n', '')],
    killer: consenting('ON-04 resuming after a pause restores the earlier cap'),
  },
  {
    id: 'link-lasts-a-second-longer',
    clause: 'BI-04',
    edits: [links('expiry + graceSeconds <= nowSeconds', 'expiry + graceSeconds < nowSeconds')],
    killer: linkReading('BI-04 a link works fifteen minutes, to the second'),
  },
  {
    id: 'link-of-one-page-opens-another',
    clause: 'BI-04',
    edits: [links('`link ${page} ${Math.floor(', '`link ${Math.floor(')],
    killer: linkReading('BI-04 a link works only on its page under its secret'),
  },
  {
    id: 'link-made-anew-pays-again',
    clause: 'BI-04',
    edits: [links(`digest: Buffer.from(digest, 'base64url'), `, '')],
    killer: linkReading('BI-04 a renewed link is spent with the first'),
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
    killer: connecting('BI-02 misleading return addresses are refused without being repeated'),
  },
  {
    id: 'app-hears-connected-before-it-is',
    clause: 'BI-02',
    edits: [connectLinks(`    if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);\n`, '')],
    killer: leadingBack('BI-02 an app hears of a connection only if it exists'),
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
    killer: answering('CC-21 an app gets only format fields, and no provider costs'),
  },
];
