import { besideAttack } from '../../../tests/beside.ts'
import { ToolExecutor } from '../src/executor/tool-executor.ts'
import { defineTool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'calm',
    description: 'A tool beside',
    schema: { type: 'object' },
    handler: () => 'calm',
  }),
)
const executor = new ToolExecutor(tools)

/** Runs an attack of a server while another tool is called; throws if that felt it. */
export function unharmed<T>(attack: () => Promise<T>): Promise<T> {
  return besideAttack({ attack, probe: () => executor.execute('calm') })
}
