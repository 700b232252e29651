// Schemas with one expensive keyword, and arguments that trigger it.
const numbers = length => Array.from({ length }, (_, n) => n)
const object = properties => ({ type: 'object', properties })
const many = (count, make) => Object.fromEntries(numbers(count).map(n => [`p${n}`, make(n)]))
const nested = (depth, wrap, inner) => numbers(depth).reduce((schema, n) => wrap(schema, n), inner)

const FORMATS = [
  'date-time',
  'email',
  'uri',
  'uri-reference',
  'uri-template',
  'hostname',
  'ipv6',
  'duration',
  'json-pointer',
  'regex',
  'byte',
  'url',
]
/** Worst cases for the backtracking of the built-in engine. */
const LONG = ['a.'.repeat(15_000), '1:'.repeat(15_000), 'a%'.repeat(15_000), `${'('.repeat(15_000)}`]

export const KEYWORD_SCHEMAS = {
  'propertyNames over 20,000 names': [
    { type: 'object', propertyNames: { pattern: '^(p|q)+[0-9]{1,6}$', maxLength: 4 } },
    many(20_000, n => n),
  ],
  'unevaluatedItems, 12 deep, two ways at each level': [
    {
      ...object({ a: { $ref: '#/$defs/d0' } }),
      $defs: Object.fromEntries(
        numbers(13).map(n => [
          `d${n}`,
          n === 12
            ? { type: 'integer' }
            : {
                type: 'array',
                allOf: ['prefixItems', 'contains'].map(keyword => {
                  const inner = { $ref: `#/$defs/d${n + 1}` }
                  return { [keyword]: keyword === 'contains' ? inner : [inner] }
                }),
                unevaluatedItems: false,
              },
        ]),
      ),
    },
    { a: nested(12, inner => [inner], 'x') },
  ],
  '20,000 required names': [{ type: 'object', required: numbers(20_000).map(n => `r${n}`) }, {}],
  '2,000 times 50 required names': [
    { type: 'object', dependentRequired: many(2_000, n => numbers(50).map(m => `r${n}_${m}`)) },
    many(2_000, n => n),
  ],
  'a chain of 3,000 $defs': [
    {
      ...object({ a: { $ref: '#/$defs/d0' } }),
      $defs: Object.fromEntries(
        numbers(3_000).map(n => [`d${n}`, n === 2_999 ? { type: 'integer' } : { $ref: `#/$defs/d${n + 1}` }]),
      ),
    },
    { a: 'x' },
  ],
  '50,000 $defs that nobody uses': [
    {
      ...object({ a: { type: 'integer' } }),
      $defs: many(50_000, n => ({ type: 'string', title: `${n}` })),
    },
    { a: 'x' },
  ],
  'every format, on long texts': [
    object(many(48, n => ({ type: 'string', format: FORMATS[n % FORMATS.length] }))),
    many(24, n => LONG[n % LONG.length]),
  ],
  'a oneOf of 500 kinds, told apart by a const': [
    object({
      a: {
        type: 'array',
        items: {
          oneOf: numbers(500).map(n => ({
            ...object({ kind: { const: `k${n}` }, value: { type: 'integer' } }),
            required: ['kind', 'value'],
          })),
        },
      },
    }),
    { a: numbers(1_000).map(n => ({ kind: `k${n % 600}`, value: 'x' })) },
  ],
  'prefixItems, 60 deep and 6 wide': [
    object({
      a: nested(
        60,
        inner => ({ type: 'array', prefixItems: [...numbers(5).map(() => ({ type: 'integer' })), inner] }),
        { type: 'integer' },
      ),
    }),
    { a: nested(60, inner => ['a', 'b', 'c', 'd', 'e', inner], ['x']) },
  ],
  'two ways to itself, 60 deep': [
    {
      type: 'object',
      anyOf: [
        { properties: { a: { $ref: '#' } }, required: ['x'] },
        { properties: { a: { $ref: '#' } }, required: ['y'] },
      ],
    },
    nested(60, a => ({ a }), {}),
  ],
  'maps of maps of itself': [
    { type: 'object', additionalProperties: { anyOf: [{ $ref: '#' }, { type: 'integer' }] } },
    many(40, () => many(40, () => many(10, () => 'x'))),
  ],
  '60 patterns of Unicode classes': [
    object(many(60, () => ({ type: 'string', pattern: '^[\\p{L}\\p{N}\\p{S}]{1,50}(\\p{Lu}|\\p{Ll})*$' }))),
    many(60, () => 'äß漢'.repeat(500)),
  ],
  'an enum of 2,000 long texts': [
    object({
      a: { type: 'array', items: { enum: numbers(2_000).map(n => 'long '.repeat(100) + n) } },
    }),
    { a: numbers(200).map(n => `${'long '.repeat(100)}x${n}`) },
  ],
  '2,000 names with an $id each': [
    object(many(2_000, n => ({ $id: `https://example.org/${n}`, type: 'integer' }))),
    many(2_000, () => 'x'),
  ],
  'uniqueItems in uniqueItems': [
    object({ a: { type: 'array', uniqueItems: true, items: { type: 'array', uniqueItems: true } } }),
    { a: numbers(300).map(n => numbers(100).map(m => ({ n, m }))) },
  ],
  'minContains of 5,000': [
    object({ a: { type: 'array', contains: { type: 'string', minLength: 3 }, minContains: 5_000 } }),
    { a: numbers(40_000).map(n => n % 1_000) },
  ],
  'properties of 100 names, 100 times': [
    object({ a: { type: 'array', items: object(many(100, () => ({ type: 'integer' }))) } }),
    { a: numbers(100).map(() => many(100, () => 'x')) },
  ],
  'examples and defaults of 2 MB': [
    object({ a: { type: 'integer', default: 'd'.repeat(500_000), examples: numbers(150_000) } }),
    { a: 'x' },
  ],
}
