// Tool schemas that are expensive to read, compile or validate with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call } from './gateway.mjs'
import { KEYWORD_SCHEMAS } from './keyword-schemas.mjs'
import { listed, ready, stdio } from './servers.mjs'

const numbers = length => Array.from({ length }, (_, n) => n)
const object = properties => ({ type: 'object', properties })
const many = (count, make) => Object.fromEntries(numbers(count).map(n => [`p${n}`, make(n)]))

function nested(depth, wrap, inner = { type: 'string' }) {
  let schema = inner
  for (let n = 0; n < depth; n++) schema = wrap(schema, n)
  return schema
}

/** `width` references on each of `depth` levels: width to the power of depth paths. */
function branching(keyword, width, depth) {
  const $defs = Object.fromEntries(
    numbers(depth).map(level => [
      `d${level}`,
      { [keyword]: numbers(width).map(n => ({ $ref: `#/$defs/d${level + 1}`, title: `${n}` })) },
    ]),
  )
  $defs[`d${depth}`] = object({ leaf: { type: 'integer' } })
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs }
}

const ladder = depth =>
  nested(depth, (inner, n) => ({
    if: { properties: { [`k${n}`]: { const: n } } },
    then: { required: [`k${n}`], ...inner },
    else: inner,
  }))

const deepList = depth => nested(depth, inner => [inner], 1)

/** By name: the schema, and arguments that make it expensive. */
const HOSTILE = {
  'refers to itself': [
    { type: 'object', properties: { a: { $ref: '#' } } },
    { a: nested(150, a => ({ a }), {}) },
  ],
  'anyOf 8 wide, 8 deep': [branching('anyOf', 8, 8), { a: { leaf: 'x' } }],
  'oneOf 8 wide, 11 deep': [branching('oneOf', 8, 11), { a: { leaf: 1 } }],
  'allOf 9 wide, 8 deep': [branching('allOf', 9, 8), { a: { leaf: 'x' } }],
  'anyOf of 2,000 objects': [
    object({ a: { anyOf: numbers(2_000).map(n => object({ [`k${n}`]: { type: 'integer', minimum: n } })) } }),
    { a: many(200, n => `x${n}`) },
  ],
  '10,000 properties': [object(many(10_000, () => ({ type: 'integer' }))), many(10_000, () => 'x')],
  '2,000 patterns': [
    object(many(2_000, n => ({ type: 'string', pattern: `^(a|b${n})*$` }))),
    many(2_000, () => 'ab'.repeat(50)),
  ],
  '500 patternProperties': [
    {
      type: 'object',
      patternProperties: Object.fromEntries(numbers(500).map(n => [`^(k|${n})+$`, { type: 'integer' }])),
    },
    many(2_000, n => `${n}`),
  ],
  'uniqueItems over 20,000 objects': [
    object({ a: { type: 'array', uniqueItems: true } }),
    { a: numbers(20_000).map(n => ({ n, deep: [[n]] })) },
  ],
  'enum of 100,000': [object({ a: { enum: numbers(100_000).map(n => `value ${n}`) } }), { a: 'value x' }],
  'enum of 20,000 objects': [object({ a: { enum: numbers(20_000).map(n => ({ n })) } }), { a: { n: -1 } }],
  'a const of 1 MB': [object({ a: { const: numbers(100_000) } }), { a: numbers(100_000).with(-1, 0) }],
  'a pattern of 100 kB': [
    object({ a: { type: 'string', pattern: `(${'a?'.repeat(50_000)})b` } }),
    { a: 'a'.repeat(10_000) },
  ],
  'a pattern with large repeats': [
    object({ a: { type: 'string', pattern: '^((a{1,100}){1,100}){1,100}$' } }),
    { a: 'a'.repeat(10_000) },
  ],
  '3,000 dependentSchemas': [
    { type: 'object', dependentSchemas: many(3_000, n => ({ required: [`p${n + 1}`] })) },
    many(3_000, () => 1),
  ],
  'unevaluatedProperties under 400 branches': [
    {
      type: 'object',
      anyOf: numbers(400).map(n => object({ [`p${n}`]: { type: 'integer' } })),
      unevaluatedProperties: false,
    },
    many(400, n => n),
  ],
  'if/then/else, 20 deep, doubling': [{ type: 'object', ...ladder(16) }, many(50, n => n)],
  'recursive $dynamicRef': [
    {
      $dynamicAnchor: 'node',
      type: 'object',
      properties: {
        a: { $dynamicRef: '#node' },
        b: { anyOf: [{ $dynamicRef: '#node' }, { $dynamicRef: '#node' }] },
      },
    },
    { b: nested(20, b => ({ b }), { b: 1 }) },
  ],
  'not, 150 deep': [object({ a: nested(150, inner => ({ not: inner })) }), { a: 1 }],
  'contains over lists of lists': [
    object({
      a: nested(6, inner => ({ type: 'array', contains: inner, minContains: 2 }), { type: 'integer' }),
    }),
    { a: nested(5, inner => numbers(8).map(() => inner), ['x', 'y']) },
  ],
  'a name of 1 MB': [object({ ['x'.repeat(1_000_000)]: { type: 'string' } }), { a: 1 }],
  'a description of 5 MB': [object({ a: { type: 'string', description: 'd'.repeat(5_000_000) } }), { a: 1 }],
  'names that are not valid Unicode': [
    object({ '\ud800': { type: 'string' }, '%': {}, '~1': {}, __proto__x: {} }),
    { '\ud800': 1 },
  ],
  'nested 190 deep': [object({ a: nested(60, inner => object({ a: inner })) }), { a: deepList(190) }],
}

export const schemaAttacks = Object.entries({ ...HOSTILE, ...KEYWORD_SCHEMAS }).map(
  ([name, [inputSchema, args]]) => ({
    name: `schema: ${name}`,
    setUp() {
      const folder = mkdtempSync(join(tmpdir(), 'toolpost-schema-'))
      const file = join(folder, 'schema.json')
      writeFileSync(file, JSON.stringify(inputSchema))
      return { ...stdio('a schema', file), tearDown: () => rmSync(folder, { recursive: true }) }
    },
    async run({ url }) {
      await ready(url, 'begin')
      const body = JSON.stringify(args)
      const results = await Promise.all([
        ...[1, 2, 3].map(() => call(url, 'victim', undefined, { body })),
        listed(url, 'api/tools'),
        listed(url, 'api/openapi.json'),
      ])
      results.push(await call(url, 'victim', undefined, { body }))
      return results.filter(Boolean)
    },
  }),
)
