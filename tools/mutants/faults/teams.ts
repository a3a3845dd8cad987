import type { Mutant } from '../mutant.ts';
import { appUsers, listening, listenTokens, ownApps, showingUsers, teaming, teams, trail, trailing } from './places.ts';

const LISTENING = listening('AU-06 a listen token reads one app until it ends');

/** Faults by which members see or do what they may not. */
export const TEAM_FAULTS: readonly Mutant[] = [
  {
    id: 'last-owner-leaves',
    clause: 'AU-06',
    edits: [
      teams("one.role === 'owner' && !one.is_disabled && one.account_id", "one.role === 'owner' && one.account_id"),
    ],
    killer: teaming('AU-06 an app keeps an owner who can sign in'),
  },
  {
    id: 'activity-of-every-app',
    clause: 'CP-09',
    edits: [
      trail(
        'where e.app_id = $1 and e.account_id is not null and (',
        'where $1::text is not null and e.account_id is not null and (',
      ),
    ],
    killer: trailing('CP-09 AU-06 members read everybody’s acts on their app'),
  },
  {
    id: 'disconnected-user-is-shown',
    clause: 'WA-02',
    edits: [appUsers('w.user_id = $1 and w.is_connected`', 'w.user_id = $1`')],
    killer: showingUsers('CP-17 WA-02 developers see a user’s spending, cap and calls only while connected'),
  },
  {
    id: 'listen-token-of-every-app',
    clause: 'AU-06',
    edits: [
      ownApps(
        'request.onlyApp !== undefined && request.onlyApp !== appId',
        "request.onlyApp !== undefined && appId === ''",
      ),
    ],
    killer: LISTENING,
  },
  {
    id: 'listen-token-for-ever',
    clause: 'AU-06',
    edits: [listenTokens('where t.digest = $1 and t.${IS_VALID}`', 'where t.digest = $1`')],
    killer: LISTENING,
  },
];
