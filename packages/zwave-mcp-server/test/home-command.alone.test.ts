import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from './support/brokers.ts'
import { programs, startChild } from './support/child.ts'
import { startServer } from './support/server.ts'

async function startHomeCommand(...args: string[]) {
  const child = startChild(programs.home, { args })
  const line = String((await once(child.process.stdout, 'data'))[0])
  return { ...child, line, url: JSON.parse(line).url as string }
}

function jsonFile(json: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'zwave-home-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'home.json')
  writeFileSync(file, JSON.stringify(json))
  return file
}

describe('zwave-home', () => {
  it('starts a broker and a home, says where in one line, and exits cleanly', async () => {
    const { line, url, process: child, exit } = await startHomeCommand('--virtual-home')
    expect(line).toMatch(/^\{"url":"mqtt:\/\/127\.0\.0\.1:\d+"\}\n$/)
    const server = await startServer({ MQTT_BROKER_URL: url })
    const { data } = await server.call('control_zwave_device', { deviceName: 'Switch One', action: 'on' })
    expect(data).toMatchObject({ confirmed: true })
    child.kill('SIGTERM')
    await expect(exit).resolves.toBe(0)
  })

  it('takes a port, devices in JSON, a delay and a prefix', async () => {
    const port = String(await freePort())
    const devices = jsonFile({
      devices: [{ name: 'Desk Lamp', location: 'Study', values: [{ type: 'dimmer', value: 10 }] }],
    })
    const options = `--virtual-home --port ${port} --devices ${devices} --delay 1 --topic z`
    const { url } = await startHomeCommand(...options.split(' '))
    expect(url).toBe(`mqtt://127.0.0.1:${port}`)
    const server = await startServer({ MQTT_BROKER_URL: url, ZWAVE_MQTT_TOPIC: 'z' })
    expect((await server.call('list_zwave_devices')).text).toBe(
      'There is 1 device: Desk Lamp (Study) (dimmed to 10 %).',
    )
  })

  it('starts a broker alone', async () => {
    const { url } = await startHomeCommand()
    const server = await startServer({ MQTT_BROKER_URL: url })
    expect((await server.call('check_zwave_health')).data).toMatchObject({
      broker: { connected: true },
      gateway: { online: null },
    })
  })

  it.each([
    [['--port', 'x'], '--port must be a whole number'],
    [['--broker', 'mqtt://x'], '--broker needs --virtual-home'],
    [['--virtual-home', '--devices', '/no/such/file'], '/no/such/file'],
    [['--virtual-home', '--topics', 'x'], 'invalid --topics "x"; expected one of named, valueid, manual'],
  ])('exits with 2 on %j', async (args, message) => {
    const child = startChild(programs.home, { args })
    await expect(child.exit).resolves.toBe(2)
    expect(child.stderr()).toContain(message)
  })
})
