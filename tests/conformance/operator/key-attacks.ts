/** An edit of the catalogue over HTTP that must be refused, and the field that the refusal names. */
interface KeyAttack {
  readonly method: 'PUT';
  readonly path: string;
  readonly body: object;
  readonly param: string;
}

interface Attacked {
  readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A provider with a key in a variable, a key of the settings file, and the variable that this one is in. */
interface Keys {
  readonly keyed: string;
  readonly bound: string;
  readonly variable: string;
}

const put = (path: string, body: object, param: string): KeyAttack => ({ method: 'PUT', path, body, param });

/** Ways to have a key sent elsewhere: to another host, and to addresses that only look like a bound one. */
export function keyAttacks(file: Attacked, { keyed, bound, variable }: Keys, elsewhere: string): readonly KeyAttack[] {
  const present = file.providers[keyed] ?? {};
  const moved = { ...present, baseUrl: elsewhere };
  const entries = [
    [moved, 'apiKeyEnv'],
    [{ kind: 'openai-compatible', baseUrl: elsewhere, apiKey: bound }, 'apiKey'],
    [{ kind: 'openai-compatible', baseUrl: elsewhere, apiKeyEnv: variable }, 'apiKeyEnv'],
  ] as const;
  const names = [keyed, 'mine'];
  const whole = (name: string, entry: object) => ({ ...file, providers: { ...file.providers, [name]: entry } });
  const { host, port } = new URL(String(present['baseUrl']));
  const hosts = [`http://localhost:${port}/v1`, `http://evil.test/${host}`, `https://${host}/v1`];
  const paths = ['//evil.test/v1', '/../@evil.test', '@evil.test/', '.evil.test/', '/v1?x=1', '\\\\evil.test'];
  return [
    ...entries.flatMap(([entry, field]) =>
      names.flatMap((name) => [
        put('/operator/catalogue', whole(name, entry), `providers.${name}.${field}`),
        put(`/operator/providers/${name}`, entry, field),
      ]),
    ),
    ...hosts.map((baseUrl) => put(`/operator/providers/${keyed}`, { ...present, baseUrl }, 'apiKeyEnv')),
    ...paths.map((path) => put(`/operator/providers/${keyed}`, { ...present, path }, 'path')),
  ];
}
