import type { Finding } from './finding.ts';
import type { Token } from './lexer.ts';
import { isIn, type Project, type SourceFile } from './project.ts';
import type { RestrictedCode } from './rule-set.ts';

/** Code that only some places may hold (time, chance, environment, network, output), and code that none may. */
export function checkRestrictedCode({ files, rules }: Project): readonly Finding[] {
  return [...files.values()].flatMap((file) => [
    ...rules.restrictedCode
      .filter(({ allowed }) => !allowed.some((place) => isIn(file, place)))
      .flatMap((restricted) => occurrences(file, restricted)),
    ...bannedWords(file, rules.bannedCommentWords),
  ]);
}

function occurrences(file: SourceFile, restricted: RestrictedCode): readonly Finding[] {
  const isFree = restricted.code.startsWith('^');
  const pattern = restricted.code.slice(isFree ? 1 : 0).split(' ');
  const shown = pattern
    .join(' ')
    .replaceAll(/ ?([.[\]():]) ?/g, '$1')
    .replace(':', ': ')
    .replace('WORD', '...');
  const findings: Finding[] = [];
  for (const [index, { line }] of file.tokens.entries()) {
    if (!pattern.every((part, offset) => matches(file.tokens[index + offset], part))) continue;
    if (isFree && isMember(file.tokens[index - 1])) continue;
    const where =
      restricted.allowed.length === 0 ? 'is written nowhere' : `belongs in ${restricted.allowed.join(', ')}`;
    const message = `\`${shown}\` ${where}. ${restricted.instead}`;
    findings.push({ rule: 'restricted-code', file: file.path, line, message, name: shown });
  }
  return findings;
}

function matches(token: Token | undefined, part: string): boolean {
  if (token === undefined || token.kind === 'regex' || token.kind.startsWith('template')) return false;
  if (part === 'WORD') return token.kind === 'word';
  if (part === '.') return token.kind === 'punctuation' && (token.text === '.' || token.text === '?.');
  if (token.kind === 'string') return part === 'env' && token.text === part; // Of `process['env']`.
  return token.text === part;
}

/** `x.fetch(` and `function fetch(` are not the global one. */
function isMember(before: Token | undefined): boolean {
  return before !== undefined && ['.', '?.', 'function'].includes(before.text) && before.kind !== 'string';
}

function bannedWords(file: SourceFile, words: readonly string[]): readonly Finding[] {
  return file.comments.flatMap(({ text, line }) =>
    words
      .filter((word) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text))
      .map((word) => ({
        rule: 'banned-words',
        file: file.path,
        line,
        message: `A comment says ${word}. Do it now, or write it into the plan, and say here what holds today.`,
        name: word,
      })),
  );
}
