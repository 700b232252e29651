// Schemas as servers write them, and as no server should.
import fc from 'fast-check'

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'deviceName', 'device_name', '__proto__', 'constructor', 'toString', ''),
  fc.constantFrom('\ud800', 'a\udc00', '%', '%zz', '~', '~1', '#', '$ref', 'then', 'x'.repeat(3_000)),
  fc.string({ maxLength: 6, unit: 'binary' }),
)
const pattern = fc.constantFrom('^a+$', '(a|a)*$', '^(?=x)', '\\p{Letter}', '[', '(a+)+b', '\\u{110000}')

/** A JSON Schema of an argument: mostly valid, sometimes recursive, sometimes nonsense. */
const { property } = fc.letrec(tie => ({
  property: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record(
      {
        type: fc.constantFrom(...'string number integer boolean null array object nonsense'.split(' ')),
        enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
        pattern,
        minimum: fc.double(),
        format: fc.constantFrom('date', 'email', 'uri', 'nonsense'),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    fc.record({ type: fc.constant('array'), items: tie('property') }),
    fc.record({
      $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/x', '#/%', 'https://example.test/x', ''),
    }),
    fc.record({ $dynamicRef: fc.constantFrom('#', '#a', '#%') }),
    fc.record({ anyOf: fc.array(tie('property'), { maxLength: 4 }) }),
    fc.record(
      { if: tie('property'), then: tie('property'), else: tie('property'), not: tie('property') },
      { requiredKeys: [] },
    ),
    fc.record({ allOf: fc.array(tie('object'), { maxLength: 3 }) }),
    tie('object'),
    fc.anything({ maxDepth: 1 }),
  ),
  object: fc.record(
    {
      type: fc.constantFrom('object', ['object', 'null']),
      properties: fc.dictionary(name, tie('property'), { maxKeys: 4 }),
      required: fc.array(name, { maxLength: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('property')),
      unevaluatedProperties: fc.oneof(fc.boolean(), tie('property')),
      patternProperties: fc.dictionary(pattern, tie('property'), { maxKeys: 2 }),
      dependentSchemas: fc.dictionary(name, tie('property'), { maxKeys: 2 }),
      propertyNames: tie('property'),
      $dynamicAnchor: fc.constantFrom('a', 'constructor'),
      $defs: fc.dictionary(fc.constant('x'), tie('property'), { maxKeys: 1 }),
      $id: fc.constantFrom('same', 'https://example.test/x'),
      $schema: fc.constantFrom(
        'http://json-schema.org/draft-07/schema#',
        'https://json-schema.org/draft/2020-12/schema',
        'nonsense',
      ),
    },
    { requiredKeys: ['type'] },
  ),
}))

export const schemas = fc.record(
  {
    type: fc.constant('object'),
    properties: fc.dictionary(name, property, { maxKeys: 5 }),
    required: fc.array(name, { maxLength: 3 }),
    additionalProperties: fc.boolean(),
    $defs: fc.dictionary(fc.constant('x'), property, { maxKeys: 1 }),
  },
  { requiredKeys: ['type'] },
)

/** Arguments: an object, text, or anything at all. */
export const argumentValues = fc.oneof(
  fc.dictionary(name, fc.anything({ maxDepth: 2, withBigInt: true, withDate: true }), { maxKeys: 5 }),
  fc.json({ maxDepth: 3 }),
  fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true, withObjectString: true }),
  fc.string({ maxLength: 2_000, unit: fc.constantFrom('`', '\n', '"', '{', '}', '[', '\\', 'a', ' ') }),
)
