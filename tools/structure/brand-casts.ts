import type { Finding } from './finding.ts';
import type { Project, SourceFile } from './project.ts';

/**
 * A brand says that a value was parsed. So only the file that declares the brand may cast to it: others call its functions,
 * take the value from a schema, or name the brand in the type of a database row.
 */
export function checkBrandCasts({ files }: Project): readonly Finding[] {
  const service = [...files.values()].filter(({ isService, isTest }) => isService && !isTest);
  const homes = new Map(service.flatMap((file) => brandsOf(file).map((brand) => [brand, file.path] as const)));
  return service.flatMap((file) => castsIn(file, homes));
}

/** The names in `type AppId = Brand<...>`. */
function brandsOf({ tokens }: SourceFile): readonly string[] {
  return tokens.flatMap(({ text }, index) => {
    const isBrand = text === 'type' && tokens[index + 2]?.text === '=' && tokens[index + 3]?.text === 'Brand';
    return isBrand ? [tokens[index + 1]?.text ?? ''] : [];
  });
}

function castsIn({ path, tokens }: SourceFile, homes: ReadonlyMap<string, string>): readonly Finding[] {
  return tokens.flatMap(({ kind, text, line }, index) => {
    const name = tokens[index + 1]?.text ?? '';
    const home = homes.get(name);
    if (kind !== 'word' || text !== 'as' || home === undefined || home === path) return [];
    const message = `\`as ${name}\` skips the check that the brand stands for. Call a function of ${home}, or let a schema or a row type make it.`;
    return [{ rule: 'brand-casts' as const, file: path, line, message, name }];
  });
}
