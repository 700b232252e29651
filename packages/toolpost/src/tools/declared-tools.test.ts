import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openProject } from '../project/open-project.ts'
import { declareTools, type ToolDeclaration } from './declared-tools.ts'

const declaration = { name: 'declared', description: 'a declared tool' }
const mock = (mock_response: unknown) => ({
  ...declaration,
  implementation: { type: 'mock', mock_response } as const,
})

it('a mock gives each caller its own copy', async () => {
  const [tool] = declareTools([mock([1])])
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

it('the second declaration of a name replaces the first, and a person is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-'))
  const file = join(folder, 'toolpost.json')
  writeFileSync(file, JSON.stringify({ tools: [mock(1), mock(2)] }))
  const said: string[] = []
  const project = await openProject({ file, say: text => said.push(text) })
  expect(await project.executor.run({ name: 'declared' })).toMatchObject({ result: 2 })
  expect(said).toEqual([expect.stringContaining("the tool 'declared' is declared twice")])
  await project.close()
  rmSync(folder, { recursive: true })
})
