import { expect } from 'vitest'
import { ToolExecutor } from '../src/executor/executor.ts'
import type { Gateway } from '../src/gateway/gateway.ts'
import { defineTool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'
import { ADDRESS } from './gateway.ts'

/** What is attacked: an executor, or a gateway. */
export interface Attacked {
  executor: ToolExecutor
  fetch?: Gateway['fetch']
}

const calm = defineTool({
  name: 'calm',
  description: 'A tool beside',
  schema: { type: 'object' },
  handler: () => 'calm',
})

/** Runs an attack; another tool, called meanwhile and afterwards, and `GET /healthz` must be answered. */
export async function unharmed<T>(attack: () => Promise<T>, attacked: Attacked = bystander()): Promise<T> {
  const { executor, fetch } = attacked
  if (!executor.tools.findTool('calm')) executor.tools.addCustomTool(calm)
  const attacking = attack()
  expect(await executor.execute('calm')).toBe('calm')
  const result = await attacking
  expect(await executor.execute('calm')).toBe('calm')
  if (fetch) expect((await fetch(new Request(`${ADDRESS}/healthz`))).status).toBe(200)
  return result
}

const bystander = (): Attacked => ({ executor: new ToolExecutor(new ToolManager()) })
