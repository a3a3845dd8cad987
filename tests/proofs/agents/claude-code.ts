import path from 'node:path';
import { CLAUDE_CODE, filledIn } from '../../clients/agents.ts';
import { AGENTS } from '../../support/installed.ts';
import type { TestService } from '../../support/service.ts';
import { type Ended, ORIGIN, runAlone } from './alone.ts';
import { createHome, type Home } from './home.ts';

const PROGRAM = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;

/** Claude Code in the home of one user. */
export interface ClaudeCode {
  readonly home: Home;
  readonly run: (words: readonly string[], watch?: Parameters<typeof runAlone>[1]['watch']) => Promise<Run>;
}

interface Run extends Ended {
  /** The status of each call that the service answered. */
  readonly statuses: readonly number[];
}

interface Settings {
  readonly key: string;
  readonly user: string;
  readonly model?: string;
  /** What is set beside the settings of `docs/CLIENTS.md`. Undefined takes one of them away. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Two of thirty: calls are as with all, and a third as large. */
  readonly tools?: string;
}

/** Sets it up for a user of an app, with a name of a model. */
export function setUpClaudeCode({ url }: TestService, settings: Settings): ClaudeCode {
  const { key, user, model = 'large', environment = {}, tools = 'Bash,Read' } = settings;
  const text = filledIn(CLAUDE_CODE, { BASE_URL: ORIGIN, USER: user, MODEL: model });
  const { env } = JSON.parse(text) as { readonly env: Readonly<Record<string, string>> };
  const home = createHome({ '.claude/settings.json': JSON.stringify({ env: { ...env, ...environment } }) });
  return {
    home,
    run: async (words, watch) => {
      const statuses: number[] = [];
      const ended = await runAlone(url, {
        program: path.join(AGENTS.directory, PROGRAM),
        words: ['-p', ...words, '--tools', tools, '--allowedTools', tools],
        directory: home.work,
        environment: { HOME: home.directory, ANTHROPIC_AUTH_TOKEN: key, PATH: '/usr/bin:/bin' },
        watch: (part, connection) => {
          const status = /^HTTP\/1\.1 (\d{3}) /.exec(part.toString('latin1', 0, 16))?.[1];
          if (status !== undefined) statuses.push(Number(status));
          watch?.(part, connection);
        },
      });
      return { ...ended, statuses };
    },
  };
}
