import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aedesBroker } from './support/brokers.ts'
import { programs } from './support/child.ts'
import { startTestHome } from './support/homes.ts'

const INFO = { name: 'test', version: '1' }

/** What the kinds of client have in common. */
type AnyClient = Pick<ClientV2, 'listTools' | 'callTool' | 'close'>
type Program = { command: string; args: string[]; env: Record<string, string>; stderr: 'ignore' }

const v1 = async (server: Program): Promise<AnyClient> => {
  const client = new ClientV1(INFO)
  await client.connect(new TransportV1(server))
  return client as unknown as AnyClient
}

const v2 = async (server: Program, options = {}): Promise<AnyClient> => {
  const client = new ClientV2(INFO, options)
  await client.connect(new TransportV2(server))
  return client
}

const v2Modern = (server: Program) => v2(server, { versionNegotiation: { mode: { pin: '2026-07-28' } } })

describe.each([
  ['SDK v1', v1],
  ['SDK v2', (server: Program) => v2(server)],
  ['SDK v2 with the 2026-07-28 protocol', v2Modern],
])('a real MCP client: %s', (_, connect) => {
  async function start() {
    const broker = await aedesBroker()
    const home = await startTestHome({ brokerUrl: broker.url })
    const env = { MQTT_BROKER_URL: broker.url, ZWAVE_CONFIRM_TIMEOUT_MS: '1500' }
    const args = [programs.server]
    const client = await connect({ command: process.execPath, args, env, stderr: 'ignore' })
    onTestFinished(() => client.close())
    return { client, home }
  }

  it('lists the tools with titles, annotations and output schemas, and accepts every structured result', async () => {
    const { client, home } = await start()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'list_zwave_devices',
      'control_zwave_device',
      'get_device_sensor_data',
      'set_thermostat',
      'control_lock',
      'activate_scene',
      'check_zwave_health',
    ])
    for (const tool of tools) {
      const reads = !/^(control|set|activate)_/.test(tool.name)
      expect(tool).toMatchObject({ title: expect.any(String), outputSchema: { type: 'object' } })
      expect(tool.annotations).toMatchObject({ readOnlyHint: reads, idempotentHint: true })
      if (!reads) expect(tool.annotations).toMatchObject({ destructiveHint: tool.name === 'control_lock' })
    }
    // The client checks every structured result against the output schema.
    const calls: Array<[string, Record<string, unknown>]> = [
      ['list_zwave_devices', { includeInactive: true }],
      ['control_zwave_device', { deviceName: 'Switch One', action: 'on' }],
      ['control_zwave_device', { deviceName: 'Living Room Light', action: 'dim', level: 100 }],
      ['control_zwave_device', { deviceName: 'Porch Light', action: 'off' }],
      ['get_device_sensor_data', { deviceName: 'Temp Sensor 1' }],
      ['get_device_sensor_data', { deviceName: 'Front Door Sensor' }],
      ['get_device_sensor_data', { deviceName: 'Hallway Thermostat' }],
      ['set_thermostat', { deviceName: 'Hallway Thermostat', temperature: 22, mode: 'heat' }],
      ['control_zwave_device', { deviceName: 'Living Room Blinds', action: 'dim', level: 50 }],
      ['control_lock', { deviceName: 'Back Door Lock', action: 'unlock' }],
      ['activate_scene', { sceneName: 'Movie Time' }],
      ['check_zwave_health', {}],
    ]
    for (const [name, args] of calls) {
      const result = await client.callTool({ name, arguments: args })
      expect(result).toMatchObject({ structuredContent: expect.any(Object), content: [{ type: 'text' }] })
    }
    expect(home.commands.map(({ value }) => value)).toEqual([true, 99, false, 1, 22, 50, 0, 20, 0])
  })
})
