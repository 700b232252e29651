import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startChild } from './support/child.ts'
import { startServer } from './support/server.ts'

const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))
const isBuilt = existsSync(path('dist/cli.js')) && existsSync(path('dist/home/cli.js'))
if (!isBuilt) process.stderr.write('the package is not built: the tests of its commands are passed over\n')

describe('the installed commands', () => {
  it.each(['bin/zwave-mcp-server.js', 'bin/zwave-home.js'])('%s can be run', file => {
    expect(statSync(path(file)).mode & 0o111).toBe(0o111)
  })

  it.runIf(isBuilt)('zwave-mcp-server answers from its build', async () => {
    const server = await startServer({}, path('bin/zwave-mcp-server.js'))
    const { tools } = await server.request('tools/list')
    expect(tools).toHaveLength(7)
    expect((await server.call('control_zwave_device', { deviceName: 'Switch One', action: 'on' })).text).toBe(
      'Switch One is on.',
    )
  })

  it.runIf(isBuilt)('zwave-home answers from its build', async () => {
    const child = startChild(path('bin/zwave-home.js'), { args: ['--version'] })
    await expect(child.exit).resolves.toBe(0)
  })
})
