import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { startExampleHome } from './example-home.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-home-'))
afterAll(() => rmSync(folder, { recursive: true }))

const STAYS = 'setTimeout(() => {}, 60_000)'

/** A program in the place of the virtual home. */
function program(source: string): string {
  const file = join(folder, `${crypto.randomUUID()}.cjs`)
  writeFileSync(file, source)
  return file
}

/** The home that such a program makes, where no broker is given. */
function start(source: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  return startExampleHome({ environment: {}, program: program(source), ...options })
}

describe('the example home', () => {
  it('has the address that its program prints, and ends the program', async () => {
    const home = await start(`console.log(JSON.stringify({ url: 'mqtt://pid-' + process.pid })); ${STAYS}`)
    const pid = Number(home?.brokerUrl.replace('mqtt://pid-', ''))
    expect(home?.server.env).toEqual({ MQTT_BROKER_URL: home?.brokerUrl })
    expect(isRunning(pid)).toBe(true)
    await home?.close()
    expect(isRunning(pid)).toBe(false)
  })

  it('is the broker of the environment, and starts nothing, where there is one', async () => {
    const environment = { MQTT_BROKER_URL: 'mqtt://home', MQTT_USERNAME: 'me', OTHER: 'x' }
    const home = await startExampleHome({ environment, program: 'nowhere.js' })
    expect(home).toMatchObject({ brokerUrl: 'mqtt://home', isVirtual: false })
    expect(home?.server.env).toEqual({ MQTT_BROKER_URL: 'mqtt://home', MQTT_USERNAME: 'me' })
  })

  it.each(["'pid ' + process.pid", "JSON.stringify(['pid ' + process.pid])"])(
    'rejects a line without an address and leaves no process behind: %s',
    async line => {
      const error = await start(`console.log(${line}); ${STAYS}`).catch((reason: Error) => reason)
      const message = (error as Error).message
      expect(message).toMatch(/^it printed '.*pid \d+.*' instead of its address$/)
      expect(isRunning(Number(/\d+/.exec(message)?.[0]))).toBe(false)
    },
  )

  it('rejects a program that ends', async () => {
    await expect(start('process.exit(3)')).rejects.toThrow('it exited with code 3')
    await expect(startExampleHome({ environment: {}, program: 'nowhere.js' })).rejects.toThrow(
      'exited with code 1',
    )
  })

  it('rejects a program that says nothing in time', async () => {
    await expect(start(STAYS, { timeoutMs: 50 })).rejects.toThrow(
      'it did not report its address within 50 ms',
    )
  })

  it('can be given up, before and while it starts', async () => {
    const stop = new AbortController()
    const home = start(STAYS, { signal: stop.signal })
    stop.abort(new Error('given up'))
    await expect(home).rejects.toThrow('given up')
    await expect(start(STAYS, { signal: stop.signal })).rejects.toThrow('given up')
  })
})
