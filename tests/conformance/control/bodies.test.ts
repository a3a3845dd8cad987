import { gzipSync } from 'node:zlib';
import { newOwner } from '../../support/control.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { setStage } from '../../support/stage.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const owner = await newOwner(stage.service);
const nested = (levels: number): string => '['.repeat(levels - 1) + ']'.repeat(levels - 1);
const ZIPPED = gzipSync('{"name":"x"}');
const NEW_APP = { as: owner, request: 'POST /apps' };
const REFUSED = { ...NEW_APP, code: 'BAD_REQUEST', param: null } as const;

/** Bodies that two programs read differently, or that the database cannot store; each with the field at fault. */
scenarios({ ...REFUSED, name: 'CP-15 an ambiguous body is a 400' }, [
  { body: '{"name":"x","name":"y"}', param: 'name' },
  { body: '{"name":"x","redirectUris":[],"redirectUris":["https://evil.test"]}', param: 'redirectUris' },
  { body: String.raw`{"name":"x\u0000y"}`, param: 'name' },
  { body: String.raw`{"name":"\ud800"}`, param: 'name' },
  { body: '{"name":"x","__proto__":{"a":1}}', param: '__proto__' },
  { body: '{"name":"x","constructor":{"prototype":{}}}', param: 'constructor.prototype' },
  { body: '{"name":1e400}', param: 'name' },
  { body: '{"name":9007199254740993}', param: 'name' },
  { body: `{"name":${nested(32)}}`, param: 'name' },
  { body: `{"name":${nested(33)}}` },
  { body: `{"name":${nested(30_000)}}` },
  { body: Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]) },
  { body: Buffer.from('{"name":"x"}', 'utf16le') },
  { body: '{"name":"x"' },
  { body: '{"name":"x"}{}' },
  { body: "{'name':'x'}" },
  { body: '{"name":"x",}' },
  { body: '["name"]' },
  { body: '"name"' },
  { body: 'null' },
  { body: '' },
]);

scenarios({ as: owner }, [
  { name: 'CP-15 an ambiguous body creates nothing', request: 'GET /apps', answers: { apps: [] } },
]);

scenarios(
  { ...REFUSED, name: 'CC-06 a compressed body is refused unread', body: ZIPPED, param: 'content-encoding' },
  ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x'].map((encoding) => ({
    headers: { 'content-encoding': encoding },
  })),
);

const NOT_JSON = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'text/json',
  'application/jsonp',
  'x',
  '',
];

scenarios(
  { ...REFUSED, name: 'CC-06 a body of another type is a 400', body: { name: 'x' }, contains: ['application/json'] },
  NOT_JSON.map((type) => ({ headers: { 'content-type': type } })),
);

scenarios({ ...NEW_APP, name: 'CC-06 plain JSON is accepted', body: { name: 'x' }, status: 201 }, [
  { headers: { 'content-encoding': 'identity' } },
  { headers: { 'content-type': 'application/json' } },
  { headers: { 'content-type': 'Application/JSON; charset=utf-8' } },
  { headers: { 'content-type': 'application/json;charset="UTF-8"' } },
]);

scenarios(NEW_APP, [
  {
    name: 'CC-06 a body above the limit is a 413',
    body: `{"name":"${'x'.repeat(1_048_576)}"}`,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: 'CP-15 a content type without a body is accepted',
    as: await newOwner(stage.service),
    request: 'DELETE /sessions/current',
    headers: { 'content-type': 'application/json' },
    status: 204,
  },
]);

scenarios({ name: 'CP-15 an address the database cannot store', as: owner, code: 'NOT_FOUND' }, [
  { request: 'GET /apps/%ff' },
  { request: 'GET /apps/%' },
  { request: 'GET /apps/%c0%80' },
  { request: 'GET /nothing/%00' },
  { request: 'GET /apps/%00', code: 'BAD_REQUEST', param: 'appId' },
  { request: 'GET /apps/x%00y/keys', code: 'BAD_REQUEST', param: 'appId' },
  { request: 'GET /apps/%F0%9F%98%80' },
]);
