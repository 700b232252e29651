// Makes one call to an MCP server's tool over stdio, and prints which files of the product it ran through.
import { once } from 'node:events'
import { Session } from 'node:inspector/promises'
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'
import { hostileServer } from 'toolpost/testing'

const tools = new ToolManager()
const mcp = new McpIntegration({ servers: { server: hostileServer() } })
mcp.start(tools)
await mcp.ready()
const executor = new ToolExecutor(tools)
const call = () => executor.run({ name: 'echo', args: { text: 'hello' } })
// The first call reads the tool; start-up work is finished before the second.
await call()
await once(AbortSignal.timeout(300), 'abort')

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await call()
const { result } = await session.post('Profiler.takePreciseCoverage')
const isModuleItself = ({ functionName, ranges }) => functionName === '' && ranges[0].startOffset === 0
const ran = result.filter(({ functions }) =>
  functions.some(each => each.ranges[0].count > 0 && !isModuleItself(each)),
)
const files = ran.map(({ url }) => /\/toolpost\/dist\/(.*)\.js$/.exec(url)?.[1]).filter(Boolean)
process.stdout.write(JSON.stringify(files.map(file => `${file}.ts`)))
await mcp.close()
