import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../schema/compile.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type FittingProvider, fitSchema } from './fit-schema.ts'

const PROVIDERS: FittingProvider[] = ['anthropic', 'ollama', 'openai']
const strictAjv = new Ajv2020({ strict: false, allErrors: false, logger: false })

/** Every schema inside of a fitted one, with the place where it stands. */
function* partsOf(schema: JsonSchema, place = '#'): Generator<[string, JsonSchema]> {
  yield [place, schema]
  for (const [name, one] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>))
    yield* partsOf(one, `${place}/${name}`)
  for (const [index, one] of ((schema.anyOf ?? []) as JsonSchema[]).entries())
    yield* partsOf(one, `${place}/anyOf/${index}`)
  if (schema.items !== undefined) yield* partsOf(schema.items as JsonSchema, `${place}/items`)
  const { additionalProperties: rest } = schema
  if (rest !== undefined && rest !== false) yield* partsOf(rest as JsonSchema, `${place}/rest`)
}

const COMMON =
  'type title description default properties required additionalProperties items enum anyOf format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems'
const TAKEN = new Set(COMMON.split(' '))

/** What a provider would say against a schema. */
function refusals(schema: JsonSchema, provider: FittingProvider): string[] {
  const top = ['oneOf', 'anyOf', 'allOf', 'enum', 'not', 'const', 'if'].filter(key => key in schema)
  const problems = top.map(key => `${key} at the top`)
  if (schema.type !== 'object') problems.push('no object at the top')
  for (const [place, part] of partsOf(schema)) {
    if (typeof part !== 'object' || part === null) problems.push(`${place}: not an object`)
    else {
      problems.push(...Object.keys(part).flatMap(key => (TAKEN.has(key) ? [] : [`${place}: ${key}`])))
      if ([part.type].flat().includes('array') && !part.items) problems.push(`${place}: no items`)
      if (provider === 'ollama' && Array.isArray(part.type)) problems.push(`${place}: list of types`)
    }
  }
  if (provider === 'anthropic')
    for (const name of Object.keys(schema.properties as object))
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) problems.push(`name ${name}`)
  return problems
}

const NAMES = ['a', 'b', 'c d', '$e', 'a_']
const name = fc.constantFrom(...NAMES)
const scalar = fc.constantFrom<unknown>('x', 'yy', 'zzz', 0, 1, 2.5, true, null)
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(name, tie('any'), { maxKeys: 3 }),
  ),
})).any
const args = fc.dictionary(name, value, { maxKeys: 4 })

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')
const depth = fc.createDepthIdentifier()
const schemas = fc.letrec<{ any: unknown; object: JsonSchema }>(tie => {
  const list = fc.array(tie('any'), { minLength: 1, maxLength: 3 })
  const map = fc.dictionary(name, tie('any'), { maxKeys: 3 })
  const names = fc.uniqueArray(name, { maxLength: 2 })
  const [any, values] = [tie('any'), fc.array(fc.oneof(scalar, args), { minLength: 1, maxLength: 3 })]
  const each = (keys: string, arbitrary: fc.Arbitrary<unknown>) =>
    keys.split(' ').map(key => [key, arbitrary])
  const keywords = Object.fromEntries([
    ...each('type', fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
    ...each('nullable uniqueItems', fc.constant(true)),
    ...each('properties dependentSchemas', map),
    ...each('required', names),
    ...each(
      'additionalProperties unevaluatedProperties items unevaluatedItems contains not if then else',
      any,
    ),
    ...each('patternProperties', fc.dictionary(fc.constantFrom('^a', 'b|c', '_'), any, { maxKeys: 2 })),
    ...each('minProperties maxProperties minItems maxItems minLength maxLength minimum', fc.nat(3)),
    ...each('dependentRequired', fc.dictionary(name, names, { maxKeys: 2 })),
    ...each('prefixItems allOf anyOf oneOf', list),
    ...each('enum', values),
    ...each('const', fc.oneof(scalar, args)),
    ...each('pattern', fc.constantFrom('^x', '(?=y)', 'z$')),
    ...each('format', fc.constantFrom('date', 'iri', 'made-up')),
    ...each('multipleOf', fc.constantFrom(0.5, 1, 2)),
    ...each('$ref', fc.constantFrom('#/$defs/one', '#/$defs/two', '#', '#/properties/a')),
  ])
  const keyword = fc.oneof(
    ...Object.entries(keywords).map(([key, arbitrary]) =>
      fc.tuple(fc.constant(key), arbitrary as fc.Arbitrary<unknown>),
    ),
  )
  return {
    // A keyword after the other: a record of all of them would grow without end.
    object: fc.array(keyword, { maxLength: 4, depthIdentifier: depth, size: 'max' }).map(entries => {
      const { nullable, ...rest } = Object.fromEntries(entries) as JsonSchema
      return nullable && rest.type ? { ...rest, nullable } : rest
    }),
    any: fc.oneof(
      { maxDepth: 4, depthIdentifier: depth, withCrossShrink: true },
      fc.constantFrom<unknown>({}, true, { type: 'string' }, { type: 'number' }, { const: 'x' }),
      tie('object'),
      fc.boolean(),
    ),
  }
})
const schema = fc
  .record({ top: schemas.object, one: schemas.any, two: schemas.any })
  .map(({ top, one, two }): JsonSchema => ({ ...top, $defs: { one, two } }))

describe('fitSchema', () => {
  it.each(PROVIDERS)(
    'accepts what the original accepts, and has nothing that %s rejects',
    async provider => {
      let valid = 0
      await fc.assert(
        fc.asyncProperty(schema, fc.array(args, { minLength: 8, maxLength: 8 }), async (original, values) => {
          const fitted = fitSchema(original, provider)
          expect(refusals(fitted.schema, provider)).toEqual([])
          const { validate } = await compileSchema(original).catch(() => ({ validate: () => false }))
          const takes = strictAjv.compile(fitted.schema)
          for (const one of values) {
            if (!isValid(validate, one)) continue
            valid++
            const renamed = fitted.rename(one)
            expect(takes(renamed), JSON.stringify({ original, fitted: fitted.schema, one, renamed })).toBe(
              true,
            )
          }
        }),
        { numRuns: 200 },
      )
      expect(valid).toBeGreaterThan(120)
    },
    120_000,
  )
})

/** A schema that refers to itself without end has no answer. */
function isValid(validate: (value: unknown) => unknown, value: unknown): boolean {
  try {
    return validate(value) === true
  } catch {
    return false
  }
}

describe('a refused schema', () => {
  it('that multiplies, or is huge, or contains itself, is bounded', () => {
    const levels = Array.from({ length: 40 }, (_, at) => [
      `l${at}`,
      { properties: { a: { $ref: `#/$defs/l${at + 1}` }, b: { $ref: `#/$defs/l${at + 1}` } } },
    ])
    const multiplying = { $ref: '#/$defs/l0', $defs: Object.fromEntries(levels) }
    const wide = {
      properties: Object.fromEntries(
        Array.from({ length: 50_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
      ),
    }
    const cyclic: JsonSchema = { type: 'object' }
    cyclic.properties = { self: cyclic }
    cyclic.allOf = [cyclic]
    const many = {
      anyOf: Array.from({ length: 20_000 }, (_, at) => ({ properties: { [`k${at}`]: { const: at } } })),
    }
    for (const provider of PROVIDERS)
      for (const hard of [multiplying, wide, cyclic, many]) {
        const { schema } = fitSchema(hard, provider)
        expect([...partsOf(schema)].length).toBeLessThan(7_000)
        expect(refusals(schema, provider)).toEqual([])
      }
  })
})
