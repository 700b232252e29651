import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../src/data.ts'
import { aedesBroker, freePort } from './support/brokers.ts'
import { programs, startChild } from './support/child.ts'
import { eventually } from './support/eventually.ts'
import { startTestHome } from './support/homes.ts'
import { startServer, watchStdout } from './support/server.ts'

const ON = { deviceName: 'Switch One', action: 'on' }
const nowhere = async () => ({ MQTT_BROKER_URL: `mqtt://127.0.0.1:${await freePort()}` })

describe('what the server writes where', () => {
  it('keeps stdout clean when told to log everything', async () => {
    const broker = await aedesBroker()
    await startTestHome({ brokerUrl: broker.url })
    const account = { MQTT_USERNAME: 'me', MQTT_PASSWORD: 'hunter2' }
    const everything = { ZWAVE_LOG_LEVEL: 'trace', DEBUG: '*', NODE_DEBUG: 'net,stream,http' }
    const server = await startServer({ MQTT_BROKER_URL: broker.url, ...account, ...everything })
    await server.call('control_zwave_device', ON)
    expect(server.stderr()).toContain('Switch_One')
    expect(server.stderr()).not.toContain('hunter2')
  })
})

describe('without a broker', () => {
  it('runs, lists its tools, and its tools say that the broker is unreachable', async () => {
    const env = await nowhere()
    const server = await startServer(env)
    const { tools } = await server.request('tools/list')
    expect(tools).toHaveLength(7)
    const unreachable = `The MQTT broker at ${env.MQTT_BROKER_URL} is unreachable: connect ECONNREFUSED`
    for (const [tool, args] of [
      ['list_zwave_devices', {}],
      ['control_zwave_device', ON],
      ['get_device_sensor_data', { deviceName: 'Switch One' }],
      ['check_zwave_health', {}],
    ] as const) {
      expect((await server.call(tool, args)).text).toContain(unreachable)
    }
  })

  it('brings its own home if none is configured, and says that it is virtual', async () => {
    const server = await startServer({ ZWAVE_CONFIRM_TIMEOUT_MS: '2000' })
    expect((await server.call('control_zwave_device', ON)).text).toBe('Switch One is on.')
    expect((await server.call('check_zwave_health')).data).toMatchObject({ healthy: true, virtualHome: true })
    expect(server.stderr()).toContain('using a virtual home')
  })
})

describe('the end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends cleanly on %s', async signal => {
    const server = await startServer(await nowhere())
    server.process.kill(signal)
    await expect(server.exit).resolves.toBe(0)
  })

  it('ends when stdin ends, after it has answered', async () => {
    const broker = await aedesBroker()
    await startTestHome({ brokerUrl: broker.url, delayMs: 100 })
    const server = await startServer({ MQTT_BROKER_URL: broker.url })
    const answer = server.call('control_zwave_device', ON)
    server.process.stdin.end()
    await expect(answer).resolves.toMatchObject({ text: 'Switch One is on.' })
    await expect(server.exit).resolves.toBe(0)
  })

  it('does not wait for a request that was cancelled', async () => {
    const broker = await aedesBroker()
    const home = await startTestHome({ brokerUrl: broker.url, delayMs: 60_000 })
    const server = await startServer({ MQTT_BROKER_URL: broker.url, ZWAVE_CONFIRM_TIMEOUT_MS: '15000' })
    void server.call('control_zwave_device', ON)
    await eventually(() => home.commands.length).toBe(1)
    server.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}')
    server.process.stdin.end()
    await expect(server.exit).resolves.toBe(0)
    expect(home.commands).toHaveLength(1)
  })

  it('ends when nobody reads its stdout any more', async () => {
    const server = await startServer(await nowhere())
    server.process.stdout.destroy()
    for (const id of [9, 10]) server.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)
    await expect(server.exit).resolves.toBe(0)
  })
})

describe('the command line', () => {
  it('prints version and help', async () => {
    const version = startChild(programs.server, { args: ['--version'] })
    expect(String(await once(version.process.stdout, 'data'))).toBe(`${VERSION}\n`)
    const help = startChild(programs.server, { args: ['--help'] })
    expect(String(await once(help.process.stdout, 'data'))).toContain('MQTT_BROKER_URL')
    await expect(Promise.all([version.exit, help.exit])).resolves.toEqual([0, 0])
  })

  it.each([
    [['--nonsense'], {}, '--nonsense'],
    [[], { MQTT_BROKER_URL: 'http://me:hunter2@host' }, 'mqtt://host:1883'],
    [[], { ZWAVE_STALE_MS: 'soon' }, 'ZWAVE_STALE_MS'],
  ])('exits with 2 on %j %j', async (args, env, message) => {
    const child = startChild(programs.server, { args, env })
    watchStdout(child)
    await expect(child.exit).resolves.toBe(2)
    expect(child.stderr()).toContain(message)
    expect(child.stderr()).not.toContain('hunter2')
  })
})
