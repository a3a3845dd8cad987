const NAME = /\btest\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** Returns the names of the tests in the text of a file, as they are written there. */
export function testNamesIn(text: string): readonly string[] {
  return [...text.matchAll(NAME)].map(([, single, double, template]) => single ?? double ?? template ?? '');
}
