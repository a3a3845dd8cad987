// Runs before every npm script, on whatever Node the machine has (18 or newer), before anything is installed. So it uses no
// dependencies and no newer syntax. It installs the locked packages when they are missing or have changed, including the
// Node that the service runs on, and checks that npm scripts will find that Node.
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

/** A missing file is normal here: the stamp does not exist before the first install. */
function readOr(file, fallback) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}

/** Lock file entries without a list fit every platform. */
function matches(list, value) {
  return !list || list.includes(value);
}

/** The root's optional packages for this platform (Node and PostgreSQL). They are optional to npm but not to us. */
function platformPackages(lock) {
  return Object.keys(lock.packages[''].optionalDependencies || {}).filter((name) => {
    const entry = lock.packages[`node_modules/${name}`];
    return entry && matches(entry.os, process.platform) && matches(entry.cpu, process.arch);
  });
}

function missingPackages(lock) {
  return platformPackages(lock).filter((name) => !fs.existsSync(path.join(root, 'node_modules', name, 'package.json')));
}

/** Runs `npm ci` with the npm that started us. The npm on the PATH may be another one with another configuration. */
function install() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const command = node && npm ? node : 'npm';
  const before = node && npm ? [npm] : [];
  // Without these two, NODE_ENV=production or a user's `omit` would drop the test tools and the Node binary.
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

function versionOnPath(PATH) {
  const options = { encoding: 'utf8', env: { ...process.env, PATH } };
  return String(spawnSync('node', ['-p', 'process.versions.node'], options).stdout || '').trim();
}

const lockText = readOr(path.join(root, 'package-lock.json'), '');
if (lockText === '') stop('package-lock.json is missing. This is not a complete copy of Purser.');
const lock = JSON.parse(lockText);
// The stamp covers the platform too: a node_modules that was copied from another machine must be installed again.
const wanted = createHash('sha256').update(`${lockText}${process.platform}${process.arch}`).digest('hex');

if (readOr(stampFile, '') !== wanted || missingPackages(lock).length > 0) {
  say('Installing the locked packages, including Node and PostgreSQL. First run only, half a minute to a minute.');
  for (let attempt = 1; ; attempt += 1) {
    if (!install())
      stop('The packages could not be installed. See the message of npm above, then run the command again.');
    const missing = missingPackages(lock);
    if (missing.length === 0) break;
    // npm silently skips an optional package whose download failed.
    if (attempt === INSTALL_ATTEMPTS_MAX)
      stop(`npm left out ${missing.join(', ')}. Check the package registry, then run the command again.`);
  }
  fs.writeFileSync(stampFile, wanted); // Last, so that an interrupted install is repeated.
}

// As npm does for its scripts: with node_modules/.bin first on the PATH, `node` should now be the packaged one.
const bin = path.join(root, 'node_modules', '.bin');
const packaged = path.join(bin, 'node');
const runsThis = fs.existsSync(packaged) && fs.realpathSync(packaged) === process.execPath; // From the second time on.
const version = runsThis ? process.versions.node : versionOnPath([bin, process.env.PATH].join(path.delimiter));
if (!(Number.parseInt(version, 10) >= NODE_MAJOR_MIN)) {
  stop(
    `Purser needs Node ${NODE_MAJOR_MIN}, but found ${version || 'none'}. There is no packaged Node for ` +
      `${process.platform}-${process.arch}. Install Node ${NODE_MAJOR_MIN}, then run the command again.`,
  );
}
