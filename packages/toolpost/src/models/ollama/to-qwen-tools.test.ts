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
  it('turns the schemas of zod, LangChain and valibot into JSON Schema of an object', () => {
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

  it('ensures a type and a description, even for a schema that cannot be read', () => {
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
