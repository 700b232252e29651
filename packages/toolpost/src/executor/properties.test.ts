import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObjectLike } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'
import { exactNumber, parseJsonText } from './json-text.ts'

const NAMES = ['a', 'b', 'device_name', 'deviceName', 'input', 'x y', 'constructor', '__proto__']
const CHOICES = ['on', 'off', 'Night Mode', 1, 2.5, true, null]

/** Schemas as servers write them: types, choices, lists, objects, alternatives, limits. */
const { property } = fc.letrec<{ property: JsonSchema; object: JsonSchema }>(tie => ({
  property: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonSchema>(
      {},
      { type: 'string' },
      { type: 'integer' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'null' },
    ),
    fc.record({ type: fc.constant(['string', 'integer']) }),
    fc.record({ enum: fc.subarray(CHOICES, { minLength: 1 }) }),
    fc.record({ type: fc.constant('string'), pattern: fc.constantFrom('^a', '(a+)+$', '(?=x)', '[') }),
    fc.record({ type: fc.constant('array'), items: tie('property') }),
    fc.record({ anyOf: fc.array(tie('property'), { minLength: 1, maxLength: 3 }) }),
    tie('object'),
  ),
  object: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom(...NAMES), tie('property'), { maxKeys: 4 }),
    required: fc.subarray(NAMES, { maxLength: 2 }),
    additionalProperties: fc.boolean(),
  }),
}))
const schemas = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(fc.constantFrom(...NAMES), property, { maxKeys: 5 }),
  required: fc.subarray(NAMES, { maxLength: 2 }),
  additionalProperties: fc.boolean(),
})

const values = fc.oneof(
  fc.constantFrom<unknown>(
    '5',
    ' 7 ',
    'true',
    'ON',
    'nightmode',
    '[1,"2"]',
    '{"a":"1"}',
    '9007199254740993',
    null,
    true,
    1.5,
    '1e400',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)
const anything = fc.oneof(
  fc.dictionary(fc.constantFrom(...NAMES), values),
  fc.jsonValue(),
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
  values.map(value => JSON.stringify(value)),
)

function executorFor(schema: JsonSchema, server?: string): ToolExecutor {
  const manager = new ToolManager()
  const tool = { name: 'subject', description: 'd', schema, invoke: (args: object) => args }
  if (server) manager.addMcpTools([tool], { server })
  else manager.addCustomTool(tool)
  return new ToolExecutor(manager)
}

describe('whatever the schema and the arguments', () => {
  it('a call gets one result of the agreed form, and its arguments are not changed', async () => {
    await fc.assert(
      fc.asyncProperty(schemas, anything, fc.boolean(), fc.boolean(), async (schema, args, repair, mcp) => {
        const executor = executorFor(schema, mcp ? 'home' : undefined)
        const before = snapshot(args)
        const result = await executor.run({ id: '1', name: 'subject', args }, { repair })
        expect(snapshot(args)).toBe(before)
        expect(result).toMatchObject({
          tool_name: 'subject',
          tool_call_id: '1',
          execution_time_ms: expect.any(Number),
        })
        if (!result.success) expect(result.error).toMatch(/\S/)
        expect(typeof executor.text(result)).toBe('string')
        expect(executor.metrics.snapshot()).toMatchObject({ calls: 1, inFlight: 0 })
      }),
      { numRuns: 300 },
    )
  })

  it('repairs make nothing up: every value was in the arguments, written otherwise', async () => {
    let repaired = 0
    await fc.assert(
      fc.asyncProperty(property, property, values, values, async (a, b, first, second) => {
        const schema = { type: 'object', properties: { a, b } }
        const args = { a: first, b: second }
        const result = await executorFor(schema).run({ name: 'subject', args }, { repair: true })
        if (!result.success || !result.repairs) return
        repaired++
        const known = new Set(atoms(args, true))
        for (const atom of atoms(result.result, false)) expect(known).toContain(atom)
      }),
      { numRuns: 600 },
    )
    expect(repaired).toBeGreaterThan(20)
  })
})

function snapshot(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? String(value)
  )
}

/** The values at the leaves; with `readings`, also what a text could be read as. */
function atoms(value: unknown, readings: boolean): string[] {
  if (isObjectLike(value)) return Object.values(value).flatMap(inner => atoms(inner, readings))
  const own = [JSON.stringify(value)]
  return readings && typeof value === 'string' ? [...own, ...readingsOf(value)] : own
}

function readingsOf(text: string): string[] {
  const number = exactNumber(text)
  const parsed = parseJsonText(text)
  const folded = text.replace(/\s+/g, '').toLowerCase()
  return [
    ...(number === undefined ? [] : [JSON.stringify(number)]),
    ...(isObjectLike(parsed) ? atoms(parsed, true) : []),
    ...(folded === 'true' || folded === 'false' ? [folded] : []),
    ...CHOICES.filter(
      choice => typeof choice === 'string' && choice.replace(/\s+/g, '').toLowerCase() === folded,
    ).map(choice => JSON.stringify(choice)),
  ]
}
