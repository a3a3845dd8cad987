/** Reads settings one by one and collects what is wrong with them, so that all faults are reported at once. */
export interface SettingsReader {
  /** The value of a variable. Undefined when it is missing or empty. */
  readonly text: (name: string) => string | undefined;
  /** One of a fixed set of words. */
  readonly choice: <Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice) => Choice;
  /** A whole number within a range, ends included. */
  readonly whole: (name: string, range: { readonly least: number; readonly most: number }, fallback: number) => number;
  /** Records a fault. Reading goes on, so that the next faults are found as well. */
  readonly complain: (fault: string) => void;
  readonly faults: () => readonly string[];
  /** Every setting that was asked for so far, by name, and whether it is set. */
  readonly asked: () => readonly { readonly name: string; readonly isSet: boolean }[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** An empty value counts as absent, because that is how shells and compose files unset a variable. */
export function readSettings(environment: Environment): SettingsReader {
  const faults: string[] = [];
  const asked = new Map<string, boolean>();
  const text = (name: string) => {
    const value = environment[name] === '' ? undefined : environment[name];
    asked.set(name, value !== undefined);
    return value;
  };
  return {
    text,
    choice: (name, choices, fallback) => {
      const value = text(name);
      if (value === undefined) return fallback;
      const choice = choices.find((one) => one === value);
      if (choice === undefined) faults.push(`${name} must be one of ${choices.join(', ')}.`);
      return choice ?? fallback;
    },
    whole: (name, { least, most }, fallback) => {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= least && number <= most) return number;
      faults.push(`${name} must be a whole number from ${least} to ${most}.`);
      return fallback;
    },
    complain: (fault) => faults.push(fault),
    faults: () => faults,
    asked: () => Array.from(asked, ([name, isSet]) => ({ name, isSet })),
  };
}
