// Makes calls as fast as it is told to, with a history: `node history-child.mjs <file> <calls>`, 0 for without end.
// Says after every round how many calls it made, how many are in the file, and what the history says of itself.
import { setTimeout as delay } from 'node:timers/promises'
import { openHistory } from '../dist/history/index.js'
import { defineTool, ToolExecutor, ToolManager } from '../dist/index.js'

const [file, limit] = process.argv.slice(2)
const tools = new ToolManager()
tools.addCustomTool(
  defineTool({ name: 'echo', description: 'Echo', schema: { type: 'object' }, handler: args => args }),
)
const executor = new ToolExecutor(tools)
const notices = []
const history = await openHistory({ file, onNotice: notice => notices.push(notice) })
history.observe(executor)
const say = () => process.stdout.write(`${JSON.stringify({ calls, failed, notices, ...history.status() })}\n`)
let failed = 0
let calls = 0
while (limit === '0' || calls < Number(limit)) {
  for (let n = 0; n < 50; n++) {
    const { success } = await executor.run({
      name: 'echo',
      args: { calls: ++calls, pid: process.pid, text: 'x'.repeat(400) },
    })
    if (!success) failed++
  }
  say()
  await delay(5)
}
await history.close()
say()
