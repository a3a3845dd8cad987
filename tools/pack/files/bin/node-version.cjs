// Loaded before the program, by any Node that the machine has, so it uses no newer syntax: an older Node would otherwise stop at
// the first word that it does not know.
'use strict';

const { engines } = require('../package.json');

const least = Number.parseInt(engines.node.replace('>=', ''), 10);
if (!(Number.parseInt(process.versions.node, 10) >= least)) {
  process.stderr.write(
    `Purser needs Node ${least} or newer, but ${process.execPath} is ${process.versions.node}. ` +
      'Install a newer one, or use the archive of Purser that brings its own.\n',
  );
  process.exit(78); // As for settings that cannot be used: trying again does not help.
}
