import { globSync } from 'node:fs';
import path from 'node:path';
import { CODEX, filledIn } from '../../clients/agents.ts';
import { AGENTS } from '../../support/installed.ts';
import type { TestService } from '../../support/service.ts';
import { ADDRESS, type Ended, runAlone } from './alone.ts';
import { createHome, type Home } from './home.ts';

const [PROGRAM = ''] = globSync('node_modules/@openai/codex-*/vendor/*/bin/codex', { cwd: AGENTS.directory });

/** Nothing is sent to its vendor, and it does not look for a newer version. */
const QUIET = 'check_for_update_on_startup = false\nanalytics.enabled = false\n';

/** Codex CLI in the home of one user. */
export interface Codex {
  readonly home: Home;
  readonly exec: (words: readonly string[], watch?: Parameters<typeof runAlone>[1]['watch']) => Promise<Ended>;
}

/** Sets it up for a user of an app, with a name of a model. */
export function setUpCodex({ url }: TestService, key: string, user: string, model = 'large'): Codex {
  const settings = filledIn(CODEX, { BASE_URL: ADDRESS, USER: user, MODEL: model });
  const home = createHome({ '.codex/config.toml': QUIET + settings });
  return {
    home,
    exec: (words, watch) =>
      runAlone(url, {
        program: path.join(AGENTS.directory, PROGRAM),
        // It is alone already, so it needs no fence of its own.
        words: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...words],
        directory: home.work,
        environment: { HOME: home.directory, PURSER_API_KEY: key, PATH: '/usr/bin:/bin' },
        watch,
      }),
  };
}
