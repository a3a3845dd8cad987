import { stripTypeScriptTypes } from 'node:module';

/** A module specifier of ours: `#<area>/<file>.ts`, a relative path, or a file of another package of this repository. */
const SPECIFIER = /(['"])((?:#|\.{1,2}\/|@purser\/)[\w./-]+)\.ts\1/g;
/** What the command is called where Purser is installed. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/ \(same as \\?`npm start\\?`\)/g, ''],
  [/npm run purser -- /g, 'purser '],
  [/npm run --silent purser -- /g, 'purser '],
  [/npm start\b/g, 'purser serve'],
];

/**
 * The JavaScript of one source file. Types become blanks, as they do when Node runs the source itself, so each line and column
 * stays where it was and a stack trace needs no source map. Imports name the `.js` files.
 */
export function eraseTypes(source: string): string {
  return nameCommand(stripTypeScriptTypes(source, { mode: 'strip' }).replaceAll(SPECIFIER, '$1$2.js$1'));
}

/** Writes text for people who have the program `purser` and no checkout: commands are named as they type them. */
export function nameCommand(text: string): string {
  return COMMANDS.reduce((named, [pattern, name]) => named.replaceAll(pattern, name), text);
}
