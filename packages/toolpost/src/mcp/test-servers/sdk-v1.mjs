// A server made with version 1 of the SDK, as most servers are. Parameters in camelCase.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' })
const device = { deviceName: z.string(), action: z.enum(['on', 'off']) }
server.registerTool(
  'control_zwave_device',
  { description: 'Switches a device', inputSchema: device },
  given => ({
    content: [{ type: 'text', text: JSON.stringify(given) }],
  }),
)
server.registerTool(
  'new_tool',
  { description: 'Is in no mapping', inputSchema: { newParameterName: z.string() } },
  given => ({
    content: [{ type: 'text', text: JSON.stringify(given) }],
  }),
)
server.registerTool('fail', { description: 'Fails', inputSchema: {} }, () => ({
  isError: true,
  content: [{ type: 'text', text: 'the server said no' }],
}))
await server.connect(new StdioServerTransport())
