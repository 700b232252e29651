import { DynamicStructuredTool, tool } from '@langchain/core/tools'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../tools/tool.ts'
import { toQwenTools } from './to-qwen-tools.ts'

const schema = { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }
const invoke = async () => 'done'

describe('toQwenTools', () => {
  it('[D04] takes lc_name if it is a string, else name, and nothing but the definition', () => {
    const mcp = { name: 'old', lc_name: 'control', lc_kwargs: {}, description: 'Controls', schema, invoke }
    expect(toQwenTools([mcp])).toEqual([
      { type: 'function', function: { name: 'control', description: 'Controls', parameters: schema } },
    ])
    const custom = { name: 'mine', description: 'Mine', schema, invoke, lc_name: () => 'DynamicTool' }
    expect(toQwenTools([custom])[0]?.function.name).toBe('mine')
  })

  it('[D04 D09] turns the schemas of zod, LangChain and valibot into JSON Schema of an object', () => {
    const zodTool = tool(invoke, { name: 'a', description: 'A', schema: z.object({ x: z.string() }) })
    const jsonTool = new DynamicStructuredTool({ name: 'b', description: 'B', schema, func: invoke })
    const valibot = toStandardJsonSchema(v.object({ x: v.string() }))
    const plain = { name: 'c', description: 'C', schema: valibot, invoke }
    for (const { type, function: definition } of toQwenTools([zodTool, jsonTool, plain] as Tool[])) {
      expect(type).toBe('function')
      expect(Object.keys(definition)).toEqual(['name', 'description', 'parameters'])
      expect(definition.parameters).toMatchObject(schema)
      expect(definition.parameters).not.toHaveProperty('$schema')
    }
  })

  it('[D05] converts each and changes none', () => {
    const tools = [1, 2, 3].map(number =>
      Object.freeze({ name: `t${number}`, description: 'T', schema: Object.freeze(schema), invoke }),
    )
    expect(toQwenTools(tools).map(entry => entry.function.name)).toEqual(['t1', 't2', 't3'])
    expect(tools[0]).toEqual({ name: 't1', description: 'T', schema, invoke })
  })

  it.each([[undefined], [null], [[]]])('[D06] returns [] for %s', nothing => {
    expect(toQwenTools(nothing)).toEqual([])
  })

  it('[D09] ensures a type and a description, even for a schema that cannot be read', () => {
    const bare = { name: 'get_weather', description: ' ', schema: { properties: {} }, invoke }
    expect(toQwenTools([bare])[0]?.function).toEqual({
      name: 'get_weather',
      description: 'get weather',
      parameters: { type: 'object', properties: {} },
    })
    const alien = { name: 'x', schema: { '~standard': { version: 1, vendor: 'mine' } }, invoke }
    expect(toQwenTools([alien])[0]?.function.parameters).toEqual({ type: 'object', properties: {} })
  })
})
