import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Tool, ToolManager } from 'toolpost'
import { MCP_RETRY_ATTEMPTS, MCP_RETRY_BASE_DELAY } from 'toolpost/mcp'
import { ModelClient, OfflineClient } from 'toolpost/models'
import { openProject } from 'toolpost/project'
import { fakeClock, recordingLogger, scriptedModel } from 'toolpost/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { BackgroundTranscriber } from 'voice-gateway'
import {
  commandOf,
  configFile,
  connect,
  ECHO,
  executorFor,
  fixtureServer,
  start,
  startMcpServer,
  temporaryFolder,
  toolThat,
} from './support.ts'

/** For what other processes do: a busy machine may take a while. */
const PATIENCE = { timeout: 30_000 }

const LIGHT = {
  type: 'object',
  properties: { device: { type: 'string' }, state: { type: 'string', enum: ['on', 'off'] } },
  required: ['device', 'state'],
}

describe('executing a tool', () => {
  it('[A01 B19] runs the tool of that name with its arguments and returns its result', async () => {
    const light = vi.fn(({ device, state }: { device: string; state: string }) => `${device} is ${state}`)
    const { executor } = executorFor([
      toolThat('volume', () => 'wrong tool'),
      toolThat('light', light as Tool['invoke'], { schema: LIGHT }),
    ])
    const args = { device: 'lamp', state: 'on' }
    expect(await executor.run({ id: 'c1', name: 'light', args })).toEqual({
      success: true,
      result: 'lamp is on',
      tool_name: 'light',
      execution_time_ms: expect.any(Number),
      tool_call_id: 'c1',
    })
    expect(light).toHaveBeenCalledOnce()
    expect(light.mock.calls[0]?.[0]).toEqual(args)
  })

  it('[A02 A13 B16] measures every call, and logs tool, id, arguments, duration and result', async () => {
    const clock = fakeClock()
    const slow = toolThat('slow', () => new Promise(done => clock.setTimer(() => done({ ok: true }), 40)))
    const { executor, logger } = executorFor([slow], { clock })
    const running = executor.run({ id: 'c2', name: 'slow', args: { room: 'attic' } })
    await clock.advance(40)
    expect(await running).toMatchObject({ success: true, execution_time_ms: 40 })
    expect(logger.at('info').map(({ fields }) => fields)).toEqual([
      { tool: 'slow', call_id: 'c2', args: { room: 'attic' }, duration_ms: 40, result: { ok: true } },
    ])
  })

  it('[A03 B02] answers an unknown tool with an error, and logs a warning that lists the known tools', async () => {
    const { executor, logger } = executorFor([toolThat('weather', () => 'sunny')])
    expect(await executor.run({ name: 'wether' })).toMatchObject({
      success: false,
      code: 'unknown_tool',
      error: "Tool 'wether' not found",
    })
    expect(await executor.execute('wether', {})).toBe('Error: Unknown tool "wether"')
    expect(logger.at('warn')[0]).toMatchObject({ fields: { tool: 'wether', available: ['weather'] } })
  })

  it('[A04 A12 B04] answers what a tool throws in its own words, logged with its context', async () => {
    const fail = toolThat('fail', async () => {
      throw new Error('The cellar is flooded')
    })
    const { executor, logger } = executorFor([fail])
    expect(await executor.run({ id: 'c7', name: 'fail', args: { room: 'cellar' } })).toMatchObject({
      success: false,
      code: 'tool_error',
      error: 'The cellar is flooded',
    })
    expect(await executor.execute('fail', {})).toBe('Error: The cellar is flooded')
    expect(logger.at('error')[0]?.fields).toMatchObject({
      tool: 'fail',
      call_id: 'c7',
      args: { room: 'cellar' },
      error: 'The cellar is flooded',
    })
  })

  it.each([
    ['nothing', undefined],
    ['an error without a message', new TypeError('')],
    ['an object', { reason: 7 }],
  ])('[A12] says something useful even if a tool throws %s', async (_what, thrown) => {
    const fail = toolThat('fail', () => {
      throw thrown
    })
    expect(await executorFor([fail]).executor.execute('fail', {})).toMatch(/^Error: .{8,}/)
  })

  it('[A11] gives a model text, and a program the structured result', async () => {
    const { executor } = executorFor([
      toolThat('hello', () => 'hi there'),
      toolThat('weather', async () => ({ temperature: 22 })),
    ])
    expect(await executor.execute('hello', {})).toBe('hi there')
    expect(await executor.execute('weather', {})).toBe('{"temperature":22}')
    expect(await executor.run({ name: 'weather' })).toMatchObject({ result: { temperature: 22 } })
  })

  it('[A14] warns of a call that takes longer than a second, with name and duration', async () => {
    const clock = fakeClock()
    const takes = (name: string, ms: number) =>
      toolThat(name, () => new Promise(done => clock.setTimer(() => done('x'), ms)))
    const { executor, logger } = executorFor([takes('quick', 1_000), takes('slow', 1_001)], { clock })
    const both = Promise.all([executor.run({ name: 'quick' }), executor.run({ name: 'slow' })])
    await clock.advance(2_000)
    await both
    expect(logger.at('warn')).toMatchObject([
      { message: expect.stringMatching(/slow.*1001/), fields: { tool: 'slow', duration_ms: 1_001 } },
    ])
  })
})

describe('recovering from errors', () => {
  it('[A19] says that a service is unavailable if it cannot be reached', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await vi.waitUntil(() => server.listening)
    const { port } = server.address() as AddressInfo
    await new Promise(resolve => server.close(resolve))
    const lookup = toolThat('lookup', () => fetch(`http://127.0.0.1:${port}/`))
    const { executor } = executorFor([lookup])
    expect(await executor.run({ name: 'lookup' })).toMatchObject({
      code: 'unavailable',
      error: expect.stringMatching(/^The lookup service is unavailable: .*ECONNREFUSED/),
    })
    expect(await executor.execute('lookup', {})).toMatch(/^Error: The lookup service is unavailable: /)
  })

  it('[A20 B03] answers wrong or missing arguments with what is required', async () => {
    const invoke = vi.fn(() => 'done')
    const { executor } = executorFor([toolThat('light', invoke, { schema: LIGHT })])
    expect(await executor.execute('light', { state: 'dim' })).toBe(
      "Error: Invalid parameters: missing 'device'; 'state' must be one of: on, off. " +
        'Required: device (string), state (one of on, off)',
    )
    expect(invoke).not.toHaveBeenCalled()
  })

  it('[A21] returns a timeout error after 30 seconds and aborts the tool', async () => {
    const clock = fakeClock()
    let signal: AbortSignal | undefined
    const hang = toolThat('hang', (_args, options) => {
      signal = options?.signal
      return new Promise(() => {})
    })
    const { executor } = executorFor([hang], { clock })
    const running = executor.run({ name: 'hang' })
    const asText = executor.execute('hang', {})
    await clock.advance(29_999)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(await running).toMatchObject({ code: 'timeout', error: "Tool 'hang' timed out after 30000 ms" })
    expect(await asText).toBe("Error: Tool 'hang' timed out after 30000 ms")
    expect(signal?.aborted).toBe(true)
  })

  it('[A21] follows the deadline of the executor, the tool or the call', async () => {
    const clock = fakeClock()
    const hang = (name: string, more: Partial<Tool> = {}) => toolThat(name, () => new Promise(() => {}), more)
    const tools = [hang('plain'), hang('own', { timeoutMs: 200 })]
    const { executor } = executorFor(tools, { clock, timeoutMs: 5_000 })
    const running = [
      executor.execute('plain', {}),
      executor.execute('own', {}),
      executor.execute('own', {}, { timeoutMs: 50 }),
    ]
    await clock.advance(5_000)
    expect(await Promise.all(running)).toEqual([
      "Error: Tool 'plain' timed out after 5000 ms",
      "Error: Tool 'own' timed out after 200 ms",
      "Error: Tool 'own' timed out after 50 ms",
    ])
  })

  it('[A21] lets progress extend a deadline only as far as maxTimeoutMs', async () => {
    const clock = fakeClock()
    const working = (name: string, more: Partial<Tool>) =>
      toolThat(
        name,
        (_args, options) => {
          const tick = () => {
            options?.reportProgress?.({ progress: 1 })
            clock.setTimer(tick, 60)
          }
          tick()
          return new Promise(() => {})
        },
        { timeoutMs: 100, ...more },
      )
    const { executor } = executorFor([working('fixed', {}), working('extended', { maxTimeoutMs: 250 })], {
      clock,
    })
    const running = [executor.execute('fixed', {}), executor.execute('extended', {})]
    await clock.advance(1_000)
    expect(await Promise.all(running)).toEqual([
      "Error: Tool 'fixed' timed out after 100 ms",
      "Error: Tool 'extended' timed out after 250 ms",
    ])
  })
})

describe('registering tools', () => {
  const DECLARED = {
    name: 'forecast',
    description: 'Tells the weather',
    implementation: { type: 'mock', mock_response: 'sunny' },
  }

  it('[A05] adds local, declared and MCP tools at start-up', async () => {
    const file = configFile({ tools: [DECLARED], mcpServers: { remote: fixtureServer({ tools: [ECHO] }) } })
    const project = await openProject({ file })
    onTestFinished(() => project.close())
    expect(await project.ready()).toMatchObject([{ name: 'remote', state: 'ready' }])
    const names = project.tools.getTools().map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['datetime', 'search', 'volume', 'forecast', 'remote_echo']))
    expect(await project.executor.execute('forecast', {})).toBe('sunny')
    expect(await project.executor.execute('remote_echo', { text: 'hello' })).toBe('{"text":"hello"}')
  })

  it.each([
    ['a name', { name: ' ' }, /name/],
    ['a description', { description: '' }, /'x'.*description/],
    ['a schema', { schema: undefined }, /'x'.*schema/],
    ['a schema of an object', { schema: { type: 'string' } }, /'x'.*object/],
    ['an invoke method', { invoke: undefined }, /'x'.*invoke/],
  ])('[A08] rejects a tool without %s, and says why', (_what, change, reason) => {
    const tools = new ToolManager()
    const tool = { ...toolThat('x', () => 1), ...change } as Tool
    expect(() => tools.addCustomTool(tool)).toThrow(reason)
    expect(tools.getTools()).toEqual([])
  })

  it('[A08] leaves out an unusable tool of a server with a warning, and keeps the others', () => {
    const logger = recordingLogger()
    const tools = new ToolManager({ logger })
    tools.addMcpTools([toolThat('bad', () => 1, { schema: { type: 'string' } }), toolThat('good', () => 2)], {
      server: 'home',
    })
    expect(tools.getTools().map(({ name }) => name)).toEqual(['good'])
    expect(logger.at('warn')).toHaveLength(1)
    expect(logger.text()).toContain("'bad'")
  })

  it('[A09] replaces a tool of the same name and source in its place, with a warning', () => {
    const logger = recordingLogger()
    const tools = new ToolManager({ logger })
    for (const [name, answer] of [
      ['a', 'old'],
      ['b', 'b'],
      ['a', 'new'],
    ] as const)
      tools.addCustomTool(toolThat(name, () => answer))
    expect(tools.getTools().map(tool => tool.invoke({}))).toEqual(['new', 'b'])
    expect(logger.at('warn')).toMatchObject([{ message: expect.stringContaining("'a'") }])
    tools.addMcpTools([toolThat('c', () => 'first')], { server: 'home' })
    tools.addMcpTools([toolThat('c', () => 'second')], { server: 'home' })
    expect(tools.getTools().map(tool => tool.invoke({}))).toEqual(['new', 'b', 'second'])
  })
})

describe('the voice gateway', () => {
  /** An executor with a lamp that counts its calls. */
  function lamp() {
    const done: string[] = []
    const tool = toolThat(
      'lamp',
      args => {
        const { action } = args as { action: string }
        done.push(action)
        return `The lamp is ${action}.`
      },
      {
        schema: {
          type: 'object',
          properties: { action: { type: 'string', enum: ['on', 'off'] } },
          required: ['action'],
        },
        sentences: ['turn {action:on|off} [the] lamp'],
      },
    )
    return { ...executorFor([tool]), done }
  }

  const transcriber = {
    name: 'none',
    ready: async () => {},
    transcribe: async () => '',
    close: async () => {},
  }

  it('[A17 D03] BackgroundTranscriber runs every call with the executor it was given', async () => {
    const given = lamp()
    const other = lamp()
    const calls = [
      { name: 'lamp', args: { action: 'on' } },
      { name: 'lamp', args: { action: 'off' } },
    ]
    const model = scriptedModel({ calls }, 'Both are done.')
    const clients = [
      new ModelClient({ model, executor: other.executor }),
      new OfflineClient({ executor: other.executor }),
    ]
    const answers = []
    for (const client of clients) {
      const background = new BackgroundTranscriber({ transcriber, client, executor: given.executor })
      const taken = background.take({ text: 'turn on the lamp' })
      if (taken.accepted) answers.push((await taken.done).text)
    }
    expect(answers).toEqual(['Both are done.', 'The lamp is on.'])
    expect(given.done).toEqual(['on', 'off', 'on'])
    expect(other.done).toEqual([])
  })

  it('[A40] starts MQTT, model and speech, and answers, while a server is still starting', async () => {
    const broker = start(commandOf('zwave-mcp-server', 'zwave-home'))
    await vi.waitUntil(() => broker.output.out.includes('\n'), PATIENCE)
    const { url } = JSON.parse(broker.output.out) as { url: string }
    const file = configFile({
      model: 'offline',
      mcpServers: { slow: fixtureServer({ hangs: true }) },
      voice: { microphone: false, mqtt: { url } },
    })
    const args = ['listen', '--config', file, '--speaker', 'none', '--log-level', 'info']
    const voice = start(commandOf('voice-gateway'), { args })
    const readyParts = () =>
      voice.output.err.split('\n').flatMap(line => (/"part":"(\w+)"/.exec(line) ?? []).slice(1))
    await expect.poll(readyParts, PATIENCE).toEqual(expect.arrayContaining(['mqtt', 'model', 'speech']))
    voice.child.stdin.write('what time is it\n')
    await expect.poll(() => voice.output.out, PATIENCE).toMatch(/^It is \d\d:\d\d/)
    expect(readyParts()).not.toContain('tools')
  })
})

describe('our own MCP servers', () => {
  it('[A18 A22] the Z-Wave server writes what it logs about a running tool to stderr', async () => {
    const server = await startMcpServer(commandOf('zwave-mcp-server'), { env: { ZWAVE_LOG_LEVEL: 'trace' } })
    await server.call('list_zwave_devices')
    await expect.poll(() => server.output.err, PATIENCE).toContain('list_zwave_devices')
    expect(server.strayLines()).toEqual([])
    for (const line of server.output.err.match(/^.+\n/gm) ?? []) expect(() => JSON.parse(line)).not.toThrow()
  })

  it.each([
    ['zwave-mcp-server', [], 'check_zwave_health', {}],
    ['toolpost', ['serve', '--stdio', '--log-level', 'debug'], 'echo', { text: 'line\nline' }],
  ])(
    '[A22 A23 A24] %s writes only JSON-RPC to stdout, one message per line',
    async (name, args, tool, given) => {
      const noise = fileURLToPath(new URL('./fixtures/noise.cjs', import.meta.url))
      const config = name === 'toolpost' ? ['--config', configFile({})] : []
      const server = await startMcpServer(commandOf(name), {
        args: [...args, ...config],
        env: { ZWAVE_LOG_LEVEL: 'trace', DEBUG: '*' },
        node: ['--require', noise],
      })
      server.child.kill('SIGUSR2')
      server.write('this is not JSON')
      server.write('{"jsonrpc":"2.0","method":"notifications/nonsense"}')
      expect(await server.call(tool, given)).toMatch(/\S/)
      expect((await server.request('no/such/method')).error?.message).toMatch(/\S/)
      expect(await server.call('no_such_tool')).toMatch(/no_such_tool/)
      expect((await server.request('tools/list')).result?.tools?.length).toBeGreaterThan(1)
      await expect.poll(() => server.output.err, PATIENCE).toContain('noise through console.log')
      expect(server.output.err).toContain('noise through stdout')
      expect(server.strayLines()).toEqual([])
      expect(server.lines.length).toBeGreaterThanOrEqual(5)
    },
  )
})

describe('junk on the stdout of a server', () => {
  it('[A25 A26] is reported with its content, and the next message is handled as usual', async () => {
    const junk = ['Server listening on 1234', '{broken', '']
    const { mcp, executor, logger, status } = connect({
      noisy: fixtureServer({ stdout: 'Welcome!', tools: [{ ...ECHO, junk }] }),
    })
    await mcp.ready()
    expect(status('noisy')).toMatchObject({ state: 'ready', attempts: 1 })
    expect(logger.messages('warn')).toEqual([expect.stringContaining('Welcome!')])
    for (const text of ['one', 'two'])
      expect(await executor.execute('remote_echo', { text })).toBe(JSON.stringify({ text }))
    expect(status('noisy')).toMatchObject({ state: 'ready', attempts: 1 })
  })
})

describe('argument names', () => {
  const properties = (...names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name, {}])),
  })

  /** What the tool of a server receives. */
  async function received(name: string, inputSchema: object, args: object) {
    const { mcp, executor, logger } = connect({ home: fixtureServer({ tools: [{ name, inputSchema }] }) })
    await mcp.ready()
    return { args: JSON.parse(await executor.execute(name, args)), logger }
  }

  it('[A27] become camelCase if the schema of the MCP tool uses it', async () => {
    const schema = properties('deviceName', 'roomNumber')
    const given = { device_name: 'Lamp', room_number: 3, in_no_schema: true }
    const { args } = await received('find', schema, given)
    expect(args).toEqual({ deviceName: 'Lamp', roomNumber: 3, in_no_schema: true })
  })

  it('[A28] are left alone for all other tools', async () => {
    const schema = properties('deviceName', 'action')
    for (const name of ['volume', 'control_zwave_device']) {
      const { executor } = executorFor([toolThat(name, args => args, { schema })])
      const args = { device_name: 'Lamp', command: 'on' }
      expect(await executor.run({ name, args })).toMatchObject({ result: args })
    }
  })

  it('[A29] follow the fixed mapping of a known MCP tool first', async () => {
    const schema = properties('deviceName', 'action', 'level')
    const given = { device_name: 'Switch One', command: 'on', brightness: 30 }
    const { args } = await received('control_zwave_device', schema, given)
    expect(args).toEqual({ deviceName: 'Switch One', action: 'on', level: 30 })
  })

  it('[A29] follow the fixed mapping on the real Z-Wave server', async () => {
    const env = { ZWAVE_CONFIRM_TIMEOUT_MS: '20000' }
    const zwave = { command: process.execPath, args: [commandOf('zwave-mcp-server')], env }
    const { mcp, executor } = connect({ zwave })
    await mcp.ready()
    expect(await executor.execute('control_zwave_device', { device_name: 'Switch One', command: 'on' })).toBe(
      'Switch One is on.',
    )
  })

  it('[A30] become camelCase if there is no mapping and the schema names no properties', async () => {
    const { args } = await received('any', { type: 'object' }, { new_parameter_name: 1 })
    expect(args).toEqual({ newParameterName: 1 })
  })

  it('[A31] stay if they have no underscores, or are in the schema', async () => {
    const given = { level: 5, value: 1, snake_case: 2 }
    const { args, logger } = await received('set', properties('level', 'snake_case'), given)
    expect(args).toEqual(given)
    expect(logger.text()).not.toContain('→')
    const known = { device_name: 'Lamp', command: 'on' }
    const schema = properties('device_name', 'command')
    expect((await received('control_zwave_device', schema, known)).args).toEqual(known)
  })

  it('[A32] are logged when they change, without secrets', async () => {
    const { logger } = await received('find', properties('deviceName', 'apiKey'), {
      device_name: 'Lamp',
      api_key: 'hunter22',
    })
    expect(logger.messages()).toContainEqual(
      expect.stringMatching(/\{device_name: "Lamp", api_key: .*\} → \{deviceName: "Lamp", apiKey: .*\}/),
    )
    expect(logger.text()).not.toContain('hunter22')
  })

  it('[A33] do not change the message of a server that rejects the call', async () => {
    const rejects = 'MCP error -32602: room is required\n  at line 2'
    const inputSchema = properties('deviceName')
    const { mcp, executor } = connect({
      home: fixtureServer({
        tools: [
          { name: 'rejecting', inputSchema, rejects },
          { name: 'failing', inputSchema, fails: rejects },
        ],
      }),
    })
    await mcp.ready()
    for (const name of ['rejecting', 'failing'])
      expect(await executor.run({ name, args: { device_name: 'Lamp' } })).toMatchObject({
        code: 'tool_error',
        error: rejects,
      })
  })
})

describe('connecting to a server', () => {
  /** A server that fails at its first starts, on a clock that stands still. */
  function failing(crashes: number, options: Parameters<typeof connect>[1] = {}) {
    const starts = join(temporaryFolder(), 'starts')
    const clock = fakeClock()
    const said = { stdout: 'Hello', stderr: 'Cannot reach the broker' }
    const server = fixtureServer({ crashes, starts, tools: [ECHO], ...said })
    const connected = connect({ broken: server }, { clock, ...options })
    const status = () => connected.status('broken')
    const startCount = () => (existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').length - 1 : 0)
    const isWaiting = () => status()?.nextAttemptAt !== undefined
    return {
      ...connected,
      clock,
      status,
      startCount,
      isWaiting,
      /** Resolves when this attempt has failed and the next one is scheduled. */
      failed: (attempt: number) =>
        expect.poll(() => startCount() === attempt && isWaiting(), PATIENCE).toBe(true),
    }
  }

  it('[A34 E01] succeeds at the first attempt, without a delay, and registers the tools', async () => {
    const { mcp, status, tools, executor } = connect(
      { home: fixtureServer({ tools: [ECHO] }) },
      { clock: fakeClock() },
    )
    await mcp.ready()
    expect(status('home')).toMatchObject({ state: 'ready', attempts: 1, tools: ['remote_echo'] })
    expect(tools.findTool('remote_echo')).toBeDefined()
    expect(await executor.execute('remote_echo', { text: 'hello' })).toBe('{"text":"hello"}')
  })

  it('[A35] succeeds at the second attempt, two seconds later, and the log says so', async () => {
    const { mcp, clock, logger, status, startCount, isWaiting, failed, executor } = failing(1)
    await failed(1)
    await clock.advance(1_999)
    expect(isWaiting()).toBe(true)
    await clock.advance(1)
    await mcp.ready()
    expect(logger.messages()).toContain('MCP connection succeeded on attempt 2')
    expect(status()).toMatchObject({ state: 'ready', attempts: 2 })
    expect(startCount()).toBe(2)
    expect(await executor.execute('remote_echo', { text: 'hello' })).toBe('{"text":"hello"}')
  })

  it('[A36 A37 A38] fails after three attempts with delays of 0, 2 and 4 seconds, and the rest carries on', async () => {
    const { mcp, clock, logger, status, startCount, isWaiting, failed, executor } = failing(1_000)
    await failed(1)
    await clock.advance(1_999)
    expect(isWaiting()).toBe(true)
    await clock.advance(1)
    await failed(2)
    expect(startCount()).toBe(2)
    await clock.advance(3_999)
    expect(isWaiting()).toBe(true)
    await clock.advance(1)
    await mcp.ready()
    expect(clock.now()).toBe(6_000)
    expect(startCount()).toBe(3)
    const stderr = 'Cannot reach the broker'
    expect(status()).toMatchObject({ state: 'failed', attempts: 3, stderr })
    for (const [attempt, delay] of [
      [1, 0],
      [2, 2_000],
      [3, 4_000],
    ])
      expect(logger.messages()).toContainEqual(
        expect.stringMatching(new RegExp(`attempt ${attempt} .*\\b${delay} ms`)),
      )
    const failure = logger
      .at('error')
      .find(({ message }) => message === 'MCP connection failed after 3 attempts')
    expect(failure).toMatchObject({ fields: { stderr } })
    expect(JSON.stringify(failure)).not.toContain('Hello')
    expect(await executor.execute('datetime', {})).toBe('noon')
  })

  it('[A38] never takes the stderr of a server for its messages', async () => {
    const stderr = '{"jsonrpc":"2.0","id":1,"result":{}}\nconnected to the broker'
    const { mcp, status, logger } = connect({ chatty: fixtureServer({ stderr, tools: [ECHO] }) })
    await mcp.ready()
    expect(status('chatty')).toMatchObject({ state: 'ready', tools: ['remote_echo'] })
    await expect.poll(() => status('chatty')?.stderr, PATIENCE).toContain('connected to the broker')
    expect(logger.messages('warn')).toEqual([])
  })

  it('[A39] tells a person what failed, why, what to check and what still works', async () => {
    const reports: string[] = []
    const hint = { hint: 'MQTT broker running, zwave-mcp-server installed' }
    const zwave = { ...fixtureServer({ crashes: 1, stderr: 'Cannot reach the broker' }), ...hint }
    const { mcp } = connect(
      { zwave },
      { retry: { attempts: 3, baseDelayMs: 1 }, onReport: text => void reports.push(text) },
    )
    await mcp.ready()
    const [what, why, stderr, check, consequence] = reports[0]?.split('\n') ?? []
    expect(what).toBe('❌ Failed to initialize MCP tools after 3 attempts')
    expect(why).toMatch(/^ {3}Reason: Connection to stdio server 'zwave' failed: .*exited with code 1/)
    expect(stderr).toBe('   MCP Server stderr: Cannot reach the broker')
    expect(check).toBe('   Check: MQTT broker running, zwave-mcp-server installed')
    expect(consequence).toBe('⚠️ Continuing with local tools only (datetime)')
    expect(reports).toHaveLength(1)
  })

  it('[A39] names only what is missing if other servers are ready', async () => {
    const reports: string[] = []
    const servers = {
      good: fixtureServer({ tools: [ECHO] }),
      files: { command: 'no-such-command-anywhere' },
    }
    const { mcp } = connect(servers, { retry: { attempts: 1 }, onReport: text => void reports.push(text) })
    await mcp.ready()
    expect(reports).toEqual([expect.stringMatching(/no-such-command-anywhere/)])
    expect(reports[0]?.split('\n').at(-1)).toBe("⚠️ Continuing without the tools of 'files'")
  })

  it('[A40] delays neither the start, nor local tools, nor other servers', async () => {
    const { mcp, executor, status } = connect({
      slow: fixtureServer({ hangs: true }),
      quick: fixtureServer({ tools: [ECHO] }),
    })
    expect(await executor.execute('datetime', {})).toBe('noon')
    await mcp.ready('quick')
    expect(await executor.execute('remote_echo', { text: 'hello' })).toBe('{"text":"hello"}')
    expect(status('slow')).toMatchObject({ state: 'starting' })
  })

  it('[A41] follows two constants', () => {
    expect([MCP_RETRY_ATTEMPTS, MCP_RETRY_BASE_DELAY]).toEqual([3, 2_000])
  })

  it('[A41] follows the configuration', async () => {
    const broken = fixtureServer({ crashes: 1 })
    const mcp = { retry: { attempts: 2, baseDelayMs: 1 } }
    const project = await openProject({ file: configFile({ mcp, mcpServers: { broken } }) })
    onTestFinished(() => project.close())
    expect(await project.ready()).toMatchObject([{ name: 'broken', state: 'failed', attempts: 2 }])
  })
})
