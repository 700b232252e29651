import { expect, it } from 'vitest'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './tool-executor.ts'

it.each([false, true])(
  'a tool that asks has its whole time afterwards (waits first: %s)',
  async waitsFirst => {
    const tools = new ToolManager()
    tools.addCustomTool(
      defineTool({
        name: 'asking',
        description: 'Asks',
        schema: { type: 'object' },
        handler: async (_args, { ask }) => {
          if (waitsFirst) await new Promise(setImmediate)
          const answer = await ask?.({ message: 'Sure?' })
          await new Promise(resolve => setTimeout(resolve, 50))
          return answer?.action
        },
      }),
    )
    const ask = async () => ({ action: 'accept' as const })
    expect(await new ToolExecutor(tools).run({ name: 'asking' }, { ask })).toMatchObject({ result: 'accept' })
  },
)
