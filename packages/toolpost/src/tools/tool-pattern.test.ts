import { expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { type PolicyRule, policy } from '../interceptors/policy.ts'
import { defineTool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'

const tool = (name: string) =>
  defineTool({ name, description: 'd', schema: { type: 'object' }, handler: () => 'done' })

/** `send_mail` belongs to the program; the mail server's own is registered as `mail__send_mail`. */
function executorWith(rule: PolicyRule): ToolExecutor {
  const tools = new ToolManager({ tools: [tool('send_mail')] })
  tools.addMcpTools([tool('send_mail')], { server: 'mail' })
  tools.addMcpTools([tool('call_tool')], { server: 'hub' })
  const executor = new ToolExecutor(tools)
  executor.use(policy([rule, { tools: '*', then: 'deny' }]))
  return executor
}

async function ruleFor(
  tools: string,
  then: 'allow' | 'deny',
  name: string,
  args: object = {},
): Promise<boolean> {
  const result = await executorWith({ tools, then, because: 'first rule' }).run({ name, args })
  return result.success ? then === 'allow' : result.error.endsWith('first rule')
}

it.each([
  ['send_mail', 'mail__send_mail'],
  ['mail__*', 'mail__send_mail'],
  ['mail__send_mail', 'mail__send_mail'],
  ['send_mail', 'call_tool', { name: 'send_mail', arguments: {} }],
])('a rule for %s denies %s %j', async (pattern, name, args?: object) => {
  expect(await ruleFor(pattern, 'deny', name, args)).toBe(true)
})

it('allows nothing by a name that any server may choose', async () => {
  expect(await ruleFor('send_mail', 'allow', 'send_mail')).toBe(true)
  expect(await ruleFor('send_mail', 'allow', 'mail__send_mail')).toBe(false)
  expect(await ruleFor('send_mail', 'allow', 'call_tool', { name: 'send_mail' })).toBe(false)
  expect(await ruleFor('hub__call_tool', 'deny', 'call_tool', { name: 'other' })).toBe(true)
})
