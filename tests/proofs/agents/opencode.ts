import path from 'node:path';
import { filledIn, OPENCODE } from '../../clients/agents.ts';
import { AGENTS } from '../../support/installed.ts';
import type { TestService } from '../../support/service.ts';
import { ADDRESS, type Ended, runAlone } from './alone.ts';
import { createHome } from './home.ts';

const PROGRAM = `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`;

/** It does not look for a newer version, shows nothing to others, and has no other provider. */
const QUIET = { autoupdate: false, share: 'disabled', enabled_providers: ['purser'] };

interface Caller {
  readonly key: string;
  readonly user: string;
  readonly watch?: Parameters<typeof runAlone>[1]['watch'];
}

/** Has opencode of one user run a prompt. */
export async function runOpencode({ url }: TestService, { key, user, watch }: Caller, prompt: string): Promise<Ended> {
  const settings = JSON.parse(filledIn(OPENCODE, { BASE_URL: ADDRESS, USER: user, MODEL: 'large' })) as object;
  const home = createHome({ 'work/opencode.json': JSON.stringify({ ...settings, ...QUIET }) });
  try {
    return await runAlone(url, {
      program: path.join(AGENTS.directory, PROGRAM),
      words: ['run', prompt],
      directory: home.work,
      watch,
      environment: {
        HOME: home.directory,
        PURSER_API_KEY: key,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        PATH: '/usr/bin:/bin',
      },
    });
  } finally {
    home.remove();
  }
}
