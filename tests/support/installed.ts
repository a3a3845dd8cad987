import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Programs and libraries of others that proofs install when they are asked for, each in the one version that was tried. They are
 * newer than a dependency of ours may be, or too large for everybody's `npm install`.
 */
export interface Installable {
  readonly directory: string;
  /** By the name in its registry, the version. */
  readonly versions: Readonly<Record<string, string>>;
  readonly install: () => void;
  /** The packages that are there in another version, or not at all. */
  readonly missing: () => readonly string[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INSTALL_MS_MAX = 600_000;
/** Beside what `npm ci` installs, so that it goes with it. */
const directoryOf = (name: string): string => path.join(ROOT, 'node_modules', '.cache', 'purser-proofs', name);

/** Packages for Node. None runs a script when it is installed. */
function forNode(name: string, versions: Installable['versions']): Installable {
  const directory = directoryOf(name);
  const wanted = Object.entries(versions).map(([each, version]) => `${each}@${version}`);
  const words = ['install', '--prefix', directory, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  return {
    directory,
    versions,
    // They are not part of the product, so the age at which it takes a version (.npmrc) does not bind them.
    install: () => run('npm', [...words, '--min-release-age=0', ...wanted]),
    missing: () => missingOf(versions, (each) => nodeVersion(path.join(directory, 'node_modules', each))),
  };
}

function nodeVersion(folder: string): string | undefined {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** Packages for Python, in an environment of their own. `extras` are what they need beside them. */
function forPython(name: string, versions: Installable['versions'], extras: readonly string[] = []): Installable {
  const directory = directoryOf(name);
  const wanted = Object.entries(versions).map(([each, version]) => `${each}==${version}`);
  return {
    directory,
    versions,
    install: () => {
      run(process.env['PURSER_TEST_PYTHON'] ?? 'python3', ['-m', 'venv', directory]);
      run(pythonOf({ directory }), [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        ...wanted,
        ...extras,
      ]);
    },
    missing: () => {
      const found = globSync('lib/python*/site-packages/*.dist-info', { cwd: directory }).map((each) =>
        path.basename(each),
      );
      return missingOf(versions, (each) => {
        const prefix = `${(each.split('[')[0] ?? each).replaceAll('-', '_')}-`;
        return found.find((entry) => entry.startsWith(prefix))?.slice(prefix.length, -'.dist-info'.length);
      });
    },
  };
}

function missingOf(versions: Installable['versions'], find: (name: string) => string | undefined): readonly string[] {
  return Object.entries(versions).flatMap(([name, version]) => (find(name) === version ? [] : [`${name} ${version}`]));
}

function run(command: string, words: readonly string[]): void {
  const { status, error } = spawnSync(command, words, { stdio: 'inherit', timeout: INSTALL_MS_MAX });
  if (status !== 0) throw new Error(`${command} ${words[0] ?? ''} failed.`, { cause: error });
}

/** The interpreter of such an environment. */
export function pythonOf({ directory }: Pick<Installable, 'directory'>): string {
  return path.join(directory, 'bin', 'python');
}

/** Installs what is missing. Returns why it cannot be run, or undefined. */
export function ensureInstalled(wanted: Installable): string | undefined {
  try {
    if (wanted.missing().length > 0) wanted.install();
  } catch (error) {
    return `it cannot be installed: ${String(error)}`;
  }
  const missing = wanted.missing();
  return missing.length === 0 ? undefined : `it was not installed: ${missing.join(', ')}`;
}

/** The newest versions of libraries for Node. Those of `package.json` are at least 30 days old. */
export const NODE_CLIENTS = forNode('node-clients', {
  openai: '7.59.0',
  ai: '7.0.173',
  '@ai-sdk/openai': '4.0.118',
  '@ai-sdk/openai-compatible': '3.0.92',
  '@ai-sdk/anthropic': '4.0.105',
  '@anthropic-ai/sdk': '1.14.0',
  '@langchain/anthropic': '1.5.11',
  '@langchain/core': '1.4.0',
  '@langchain/openai': '1.6.0',
  '@openai/agents': '0.20.0',
  zod: '4.6.7',
});

export const PYTHON_PACKAGES = forPython('python-clients', {
  openai: '3.57.0',
  litellm: '1.110.2',
  'openai-agents': '0.24.0',
  'pydantic-ai-slim[openai,anthropic]': '2.68.0',
  agno: '3.1.10',
  'langchain-openai': '1.7.4',
  anthropic: '2.14.0',
  'langchain-anthropic': '1.7.10',
  'llama-index-embeddings-openai': '0.7.0',
  mem0ai: '2.2.1',
});

/** Agents for a terminal, as their vendors build them for this system. */
export const AGENTS = forNode('agents', {
  '@openai/codex': '0.171.0',
  [`@anthropic-ai/claude-code-${process.platform}-${process.arch}`]: '2.1.332',
  [`opencode-${process.platform}-${process.arch}`]: '1.18.33',
});

/** What the proxy of LiteLLM needs. Its own extra `proxy` names a package that registries do not have. */
const PROXY_NEEDS =
  'apscheduler azure-identity backoff backports-zstd boto3 expression fastapi<1 fastapi-sso granian gunicorn hiredis inquirerpy litellm-proxy-extras mcp orjson polars pyjwt pynacl python-multipart restrictedpython rich rq semver soundfile tomlkit uvicorn<1 uvloop websockets<16'.split(
    ' ',
  );

/** The server of llama.cpp with what makes a model for it, and the proxy of LiteLLM. */
export const PYTHON_SERVERS = forPython(
  'python-servers',
  { xllamacpp: '2026.10.11549', gguf: '0.19.0', litellm: '1.110.2' },
  PROXY_NEEDS,
);
