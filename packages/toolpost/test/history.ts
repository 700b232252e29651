import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import { ToolExecutor } from '../src/executor/executor.ts'
import { type History, type HistoryOptions, openHistory } from '../src/history/index.ts'
import { defineTool, type Tool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'
import { echoTool } from './gateway.ts'

export const failingTool = defineTool({
  name: 'failing',
  description: 'Fails',
  schema: { type: 'object' },
  handler: () => {
    throw new Error('the lamp is broken')
  },
})

/** Histories in a folder that goes away with the tests of the file; each is closed after its test. */
export function histories() {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-history-'))
  const opened: History[] = []
  let files = 0
  afterEach(async () => void (await Promise.all(opened.splice(0).map(history => history.close()))))
  afterAll(() => rmSync(folder, { recursive: true }))
  const newFile = () => join(folder, String(++files), 'history.db')
  return {
    folder,
    newFile,
    /** A history of an executor with these tools. */
    async open(options: Partial<HistoryOptions> = {}, tools: readonly Tool[] = [echoTool, failingTool]) {
      const file = options.file ?? newFile()
      const history = await openHistory({ ...options, file })
      opened.push(history)
      const executor = executorOf(tools)
      history.observe(executor)
      return { history, executor, file }
    },
  }
}

export function executorOf(tools: readonly Tool[]): ToolExecutor {
  const manager = new ToolManager()
  for (const tool of tools) manager.addCustomTool(tool)
  return new ToolExecutor(manager)
}
