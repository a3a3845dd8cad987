// Runs before every npm script, under whatever Node the machine has (18 or newer), before anything is installed:
// no dependencies, no newer syntax. Installs the locked packages when they are missing or changed, among them the
// Node that the service runs on, and checks that this Node is the one npm scripts will find.
'use strict';

const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const NODE_MAJOR_MIN = 26;
const INSTALL_ATTEMPTS_MAX = 3;
const root = path.join(__dirname, '..');
const stampFile = path.join(root, 'node_modules', '.purser-bootstrap');

function say(text) {
  process.stderr.write(`[purser] ${text}\n`);
}

function stop(text) {
  say(text);
  process.exit(1);
}

function readOr(file, fallback) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}

function matches(list, value) {
  return !list || list.includes(value);
}

/** The optional packages of the root that are made for this platform: optional to npm, not to us. */
function platformPackages(lock) {
  return Object.keys(lock.packages[''].optionalDependencies || {}).filter((name) => {
    const entry = lock.packages[`node_modules/${name}`];
    return entry && matches(entry.os, process.platform) && matches(entry.cpu, process.arch);
  });
}

function missingPackages(lock) {
  return platformPackages(lock).filter((name) => !fs.existsSync(path.join(root, 'node_modules', name, 'package.json')));
}

/** Runs `npm ci` by the npm that started us: the one on the PATH may be another, with another configuration. */
function install() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const command = node && npm ? node : 'npm';
  const before = node && npm ? [npm] : [];
  // Groups are spelled out because NODE_ENV=production or a user's `omit` would drop the test tools and the Node binary.
  const flags = [
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--engine-strict=false',
    '--loglevel=error',
  ];
  const result = spawnSync(command, [...before, 'ci', ...flags], { cwd: root, stdio: ['ignore', 2, 2] });
  return !result.error && result.status === 0;
}

const lockText = readOr(path.join(root, 'package-lock.json'), '');
if (lockText === '') stop('package-lock.json is missing: this is not a complete copy of Purser.');
const lock = JSON.parse(lockText);
const wanted = createHash('sha256').update(`${lockText}${process.platform}${process.arch}`).digest('hex');

if (readOr(stampFile, '') !== wanted || missingPackages(lock).length > 0) {
  say('Installing the locked packages, its own Node and PostgreSQL among them. First run only, about half a minute.');
  for (let attempt = 1; ; attempt += 1) {
    if (!install())
      stop('The packages could not be installed: see the message of npm above, then run the command again.');
    const missing = missingPackages(lock);
    if (missing.length === 0) break;
    // npm passes over an optional package whose download failed, without a word.
    if (attempt === INSTALL_ATTEMPTS_MAX)
      stop(`npm left out ${missing.join(', ')}. Check the package registry, then run the command again.`);
  }
  fs.writeFileSync(stampFile, wanted); // Last, so that an interrupted install is done again.
}

// npm puts node_modules/.bin first on the PATH of its scripts, so `node` is the packaged one from here on.
const version = String(spawnSync('node', ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout || '').trim();
if (!(Number.parseInt(version, 10) >= NODE_MAJOR_MIN)) {
  stop(
    `Node ${NODE_MAJOR_MIN} is needed and ${version || 'none'} was found: there is no packaged Node for ` +
      `${process.platform}-${process.arch}. Install Node ${NODE_MAJOR_MIN}, then run the command again.`,
  );
}
