import { expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { shapedTool, type ToolShape } from './shape.ts'
import { defineTool, type Tool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'
import { ToolOutput } from './tool-output.ts'

const issues = [{ number: 7, title: 'Broken', user: { login: 'ann', avatar: 'x'.repeat(1_000) } }]
const seen: unknown[] = []
const schema = {
  type: 'object',
  properties: { owner: { type: 'string' }, repo: { type: 'string' }, page: { type: 'integer' } },
  required: ['owner', 'repo'],
}
const listIssues: Tool = {
  name: 'list_issues',
  description: 'Long',
  schema,
  invoke: args => {
    seen.push(args)
    return new ToolOutput(JSON.stringify(issues), [{ type: 'text', text: JSON.stringify(issues) }])
  },
}

function executorWith(shape: Record<string, ToolShape>) {
  const tools = new ToolManager({ shape: (tool, server) => shapedTool(tool, server, shape) })
  tools.addMcpTools([listIssues], { server: 'github' })
  tools.addCustomTool(defineTool({ name: 'mine', description: 'Mine', schema, handler: () => ({ a: 1 }) }))
  return new ToolExecutor(tools)
}

it('a tool is described, called and answered as the configuration says', async () => {
  const executor = executorWith({
    'github__*': { fixed: { owner: 'acme' }, hidden: ['page'] },
    list_issues: { description: 'Open issues', result: '[].{number: number, title: title, by: user.login}' },
  })
  const [own, tool] = executor.tools.getTools()
  expect(own).toMatchObject({ description: 'Mine', schema })
  expect(tool).toMatchObject({
    description: 'Open issues',
    schema: { properties: { repo: { type: 'string' } }, required: ['repo'] },
  })
  const result = await executor.run({ name: 'list_issues', args: { repo: 'site', owner: 'evil', page: 2 } })
  expect(result).toMatchObject({ success: true, result: [{ number: 7, title: 'Broken', by: 'ann' }] })
  expect(seen.splice(0)).toEqual([{ repo: 'site', owner: 'acme' }])
})

it('an expression that does not fit leaves the result alone; one that is invalid is said before the tool runs', async () => {
  const fits = executorWith({ list_issues: { result: 'sum([].title)' } })
  const args = { owner: 'a', repo: 'b' }
  expect(await fits.run({ name: 'list_issues', args })).toMatchObject({ result: JSON.stringify(issues) })
  expect(seen.splice(0)).toHaveLength(1)
  const broken = executorWith({ '*': { result: '[}' } })
  expect(await broken.run({ name: 'list_issues', args })).toMatchObject({
    code: 'tool_error',
    error: expect.stringContaining('invalid JMESPath'),
  })
  expect(seen).toEqual([])
})
