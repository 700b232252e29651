import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { compiledFile } from '../runtime/package-root.ts'
import { isRunning } from '../testing/hostile-server/harness.ts'

it('servers end with the program, also when it exits without closing them', async () => {
  const path = (file: string) => JSON.stringify(fileURLToPath(compiledFile(file)))
  const program = `
    import { ToolManager } from ${path('index.js')}
    import { McpIntegration } from ${path('mcp/index.js')}
    import { hostileServer } from ${path('testing/hostile-server/hostile-server.js')}
    const mcp = new McpIntegration({ servers: { stubborn: hostileServer({ ignoresSigterm: true }) } })
    mcp.start(new ToolManager())
    await mcp.ready()
    console.log(mcp.status()[0].pid)
    process.exit(0)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await once(child.stdout, 'data')
  await once(child, 'close')
  expect(Number(output)).toBeGreaterThan(0)
  await expect.poll(() => isRunning(Number(output))).toBe(false)
})
