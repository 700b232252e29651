import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { recordingLogger } from '../testing/index.ts'
import { type DeclareOptions, declareTools, type ToolDeclaration } from './declared-tools.ts'
import { ToolManager } from './tool-manager.ts'

function declaration(
  implementation: ToolDeclaration['implementation'],
  more: Partial<ToolDeclaration> = {},
): ToolDeclaration {
  return { name: 'declared', description: 'a declared tool', implementation, ...more }
}

function executorFor(declared: ToolDeclaration, options: DeclareOptions = {}, logger = recordingLogger()) {
  const manager = new ToolManager()
  for (const tool of declareTools([declared], options)) manager.addCustomTool(tool)
  return new ToolExecutor(manager, { logger })
}

describe('mock tools', () => {
  it('give each caller its own copy', async () => {
    const executor = executorFor(declaration({ type: 'mock', mock_response: { list: [1] } }))
    const first = await executor.run({ name: 'declared' })
    if (first.success) (first.result as { list: number[] }).list.push(2)
    expect(await executor.run({ name: 'declared' })).toMatchObject({ result: { list: [1] } })
  })
})

describe('declarations', () => {
  it('with an unknown type are a mistake that names it', () => {
    expect(() => declareTools([declaration({ type: 'magic' } as never)])).toThrow(
      /'declared' has an invalid implementation type 'magic'; expected one of mock, builtin, internal/,
    )
  })

  it('carry limits, hints and sentences over to the tool', () => {
    const [tool] = declareTools([
      declaration(
        { type: 'mock' },
        { timeout_ms: 5, read_only: true, idempotent: true, sentences: ['do it'] },
      ),
    ])
    expect(tool).toMatchObject({ timeoutMs: 5, readOnly: true, idempotent: true, sentences: ['do it'] })
  })
})
