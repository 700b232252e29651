import { expect, it } from 'vitest'
import { declareTools, type ToolDeclaration } from './declared-tools.ts'

const declaration = { name: 'declared', description: 'a declared tool' }

it('a mock gives each caller its own copy', async () => {
  const [tool] = declareTools([{ ...declaration, implementation: { type: 'mock', mock_response: [1] } }])
  const first = (await tool?.invoke({})) as number[]
  first.push(2)
  expect(await tool?.invoke({})).toEqual([1])
})

it('an implementation of an unknown type is a mistake that names it', () => {
  const wrong = { ...declaration, implementation: { type: 'magic' } } as unknown as ToolDeclaration
  expect(() => declareTools([wrong])).toThrow(
    /'declared' has an invalid implementation type 'magic'; expected one of mock, builtin, internal/,
  )
})
