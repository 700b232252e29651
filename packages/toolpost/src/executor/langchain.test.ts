import { DynamicTool, tool } from '@langchain/core/tools'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type ToolLike } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

const run = (subject: ToolLike, args: unknown, options = {}) =>
  new ToolExecutor(new ToolManager({ tools: [subject] })).run({ name: subject.name, args }, options)

describe("LangChain's tools, unchanged", () => {
  const add = tool(async ({ a, b }: { a: number; b: number }) => a + b, {
    name: 'add',
    description: 'adds',
    schema: z.object({ a: z.int(), b: z.number().default(1) }),
  })

  it('tool() with zod: runs, keeps its own defaults, and is validated before', async () => {
    expect(await run(add, { a: 2, b: 3 })).toMatchObject({ success: true, result: 5 })
    expect(await run(add, { a: 2 })).toMatchObject({ result: 3 })
    expect(await run(add, { a: 'x' })).toMatchObject({
      code: 'invalid_arguments',
      error: "Invalid parameters: 'a' must be integer, got string",
    })
  })

  it('DynamicTool takes input, the only text of the call, or the call as JSON', async () => {
    const shout = new DynamicTool({ name: 'shout', description: 'shouts', func: async text => `${text}!` })
    expect(await run(shout, { input: 'hey' })).toMatchObject({ result: 'hey!' })
    expect(await run(shout, { query: 'hey' })).toMatchObject({ result: 'hey!' })
    expect(await run(shout, { query: 'hey', limit: 3 })).toMatchObject({ result: 'hey!' })
    expect(await run(shout, { a: 'x', b: 'y' })).toMatchObject({ result: '{"a":"x","b":"y"}!' })
  })

  it('refinements that JSON Schema cannot express come back as invalid arguments', async () => {
    const even = tool(async () => 'ok', {
      name: 'even',
      description: 'even',
      schema: z.object({ n: z.number().refine(n => n % 2 === 0, 'must be even') }),
    })
    expect(await run(even, { n: 3 })).toMatchObject({
      code: 'invalid_arguments',
      error: expect.stringContaining('must be even'),
    })
  })

  it('the deadline reaches them as a real signal', async () => {
    let signal: AbortSignal | undefined
    const hang = tool(
      (_args, config) => {
        signal = (config as { signal?: AbortSignal }).signal
        return new Promise<string>(() => {})
      },
      { name: 'hang', description: 'hangs', schema: z.object({}) },
    )
    expect(await run(hang, {}, { timeoutMs: 50 })).toMatchObject({ code: 'timeout' })
    expect(signal?.aborted).toBe(true)
  })
})

describe('schemas of other libraries', () => {
  it('refinements hold too, and the tool gets what the schema makes of the arguments', async () => {
    const schema = z.object({
      email: z.string().refine(text => text.endsWith('@me.com'), 'must be mine'),
      level: z.number().default(7),
    })
    const mail = defineTool({
      name: 'mail',
      description: 'm',
      schema,
      handler: ({ email, level }) => ({ email, level }),
    })
    expect(await run(mail, { email: 'x@evil.com' })).toMatchObject({
      code: 'invalid_arguments',
      error: "Invalid parameters: 'email': must be mine",
    })
    expect(await run(mail, { email: 'x@me.com' })).toMatchObject({
      result: { email: 'x@me.com', level: 7 },
    })
  })

  it.each([
    ['throws', () => fail('no database')],
    ['rejects', async () => fail('no database')],
  ])('a refinement that %s fails that call alone', async (_how, refinement) => {
    const schema = z.object({ name: z.string().refine(refinement) })
    const subject = defineTool({ name: 't', description: 't', schema, handler: () => 'ran' })
    expect(await run(subject, { name: 'x' })).toMatchObject({ code: 'tool_error', error: 'no database' })
  })

  it('a refinement that never ends is ended by the deadline, or by the caller', async () => {
    const schema = z.object({ name: z.string().refine(() => new Promise<boolean>(() => {})) })
    const subject = defineTool({ name: 't', description: 't', schema, handler: () => 'ran', timeoutMs: 20 })
    expect(await run(subject, { name: 'x' })).toMatchObject({
      code: 'timeout',
      error: "Tool 't' timed out after 20 ms",
    })
    const signal = AbortSignal.abort()
    expect(await run(subject, { name: 'x' }, { signal })).toMatchObject({ code: 'cancelled' })
  })
})

function fail(message: string): never {
  throw new Error(message)
}
