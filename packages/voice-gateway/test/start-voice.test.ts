import { readdirSync } from 'node:fs'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration, type ServerStatus } from 'toolpost/mcp'
import { chooseClient, whenToolsReady } from 'toolpost/models'
import type { ExampleHome } from 'toolpost/project'
import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { aedesBroker } from '../../zwave-mcp-server/test/support/brokers.ts'
import type { Transcriber } from '../src/speech-to-text/transcriber.ts'
import {
  startVoice,
  type VoiceGateway,
  type VoiceOptions,
  type VoiceProject,
} from '../src/start-up/start-voice.ts'
import { fakeTranscriber, recordingBus, recordingSpeaker, tonePcm } from './fakes.ts'
import { waitFor } from './support/eventually.ts'
import { programs } from './support/programs.ts'

function clockTool() {
  return defineTool({
    name: 'clock',
    description: 'Tells the time',
    schema: { type: 'object' },
    sentences: ['what time is it'],
    handler: () => 'It is noon.',
  })
}

const NO_SERVERS: Partial<VoiceProject> = {
  ready: async () => [],
  status: () => statusWith([]),
  exampleHome: async () => undefined,
}

function statusWith(servers: ServerStatus[]) {
  return { servers, problem: undefined, model: undefined, voice: [], history: undefined, durable: undefined }
}

interface Start extends Partial<Omit<VoiceOptions, 'project'>> {
  /** Replaces parts of the project. */
  project?: Partial<VoiceProject>
}

/** Everything is real but the ears and the mouth; the only server cannot be started, on a clock that stands still. */
async function start({ project: replaced, ...options }: Start = {}) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const tools = new ToolManager()
  tools.addCustomTool(clockTool())
  const executor = new ToolExecutor(tools)
  const mcp = new McpIntegration({
    servers: { zwave: { command: process.execPath, args: ['-e', 'process.exit(3)'] } },
    clock,
  })
  mcp.start(tools)
  onTestFinished(() => mcp.close())
  const chosen = await chooseClient({ executor, model: 'offline' })
  const bus = recordingBus()
  const project: VoiceProject = {
    executor,
    config: {},
    logger,
    model: async () => chosen,
    ready: async () => {
      await mcp.ready()
      return mcp.status()
    },
    status: () => statusWith(mcp.status()),
    exampleHome: async () => undefined,
    on: () => () => {},
    ...replaced,
    client: whenToolsReady(chosen, () => project.ready()),
  }
  const gateway: VoiceGateway = await startVoice({
    project,
    voice: { microphone: false },
    clock,
    bus,
    transcriber: fakeTranscriber('What time is it?', 'Turn on the light.'),
    speaker: recordingSpeaker(),
    ...options,
  })
  onTestFinished(() => gateway.close())
  const stateOf = (name: string) => gateway.status().find(part => part.name === name)?.state
  return { gateway, mcp, clock, logger, bus, stateOf }
}

describe('starting', () => {
  it('MQTT, model and speech are under way, and answer, while MCP is still being tried', async () => {
    const { url } = await aedesBroker()
    const voice = { microphone: false, mqtt: { url } }
    const { gateway, mcp, clock, logger, bus, stateOf } = await start({ voice })
    const isReady = vi.fn()
    const ready = gateway.ready().then(isReady)
    await waitFor(() => expect(mcp.status()).toMatchObject([{ state: 'starting', attempts: 1 }]))
    await waitFor(async () => {
      // mqtt.js has timers of its own; ours stand still but for what is due at once.
      await clock.advance(0)
      expect(['mqtt', 'model', 'hearing', 'speech'].map(stateOf)).toEqual(Array(4).fill('ready'))
    })
    expect(stateOf('tools')).toBe('starting')
    expect(isReady).not.toHaveBeenCalled()

    const local = gateway.transcriber.take({ pcm: tonePcm(), id: 'local' })
    const forServer = gateway.transcriber.take({ pcm: tonePcm(), id: 'for the server' })
    await waitFor(() => expect(bus.answers).toMatchObject([{ id: 'local', text: 'It is noon.' }]))
    await waitFor(() => expect(bus.heard).toHaveLength(2))
    expect(mcp.status()).toMatchObject([{ state: 'starting' }])

    await waitFor(async () => {
      await clock.advance(2_000)
      expect(mcp.status()).toMatchObject([{ state: 'failed', attempts: 3 }])
    })
    await ready
    expect(isReady).toHaveBeenCalledOnce()
    if (!local.accepted || !forServer.accepted) throw new Error('not taken')
    expect(await forServer.done).toMatchObject({
      outcome: 'failed',
      text: expect.stringMatching(/^I did not understand that\..* zwave is unavailable right now\.$/),
    })
    const notices = logger.at('warn').filter(({ message }) => message === 'Continuing with local tools only')
    expect(notices).toHaveLength(1)
  })

  it('continues without ears: text is answered, audio is refused with a reason', async () => {
    const text = 'onnxruntime has no binary for this machine'
    const fail = () => Promise.reject(new Error(text))
    const broken: Transcriber = { ...fakeTranscriber(), ready: fail, transcribe: fail }
    const { gateway } = await start({ transcriber: broken, project: NO_SERVERS })
    const { parts } = await gateway.ready()
    expect(parts).toContainEqual(expect.objectContaining({ name: 'hearing', state: 'missing', text }))
    const taken = gateway.transcriber.take({ text: 'what time is it' })
    expect(taken.accepted && (await taken.done).text).toBe('It is noon.')
    const { signal } = new AbortController()
    expect(await gateway.transcribe(tonePcm(), { signal })).toHaveProperty('problem')
  })

  it('what is still starting when it is closed is ended as well', async () => {
    const { url } = await aedesBroker()
    let found = () => {}
    const home = new Promise<ExampleHome>(resolve => {
      found = () => resolve({ brokerUrl: url } as ExampleHome)
    })
    const { gateway } = await start({ project: { ...NO_SERVERS, exampleHome: () => home } })
    await gateway.close()
    found()
    await gateway.ready()
    expect(gateway.status().map(({ name }) => name)).not.toContain('mqtt')
  })

  it('a recorder that sends no sound holds nothing up, and is said to be missing', async () => {
    const script = `if [ "$1" = -l ]; then echo 'card 0: X [X], device 0: Y [Y]'; else : > "$0.runs"; exec sleep 60; fi`
    const { folder } = programs({ arecord: script })
    vi.stubEnv('PATH', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { gateway, clock } = await start({ voice: {}, project: NO_SERVERS })
    await waitFor(() => expect(readdirSync(folder)).toContain('arecord.runs'))
    const isReady = vi.fn()
    void gateway.ready().then(isReady)
    await waitFor(async () => {
      await clock.advance(1_000)
      expect(isReady).toHaveBeenCalled()
    })
    const text = 'the recorder sent no sound within 3 s'
    const part = expect.objectContaining({ name: 'microphone', state: 'missing', text })
    expect(gateway.status()).toContainEqual(part)
  })

  it('is ready, and says what is missing, if the broker is down', async () => {
    const { gateway } = await start({
      voice: { microphone: false, mqtt: { url: 'mqtt://user:secret@127.0.0.1:1' } },
      project: NO_SERVERS,
    })
    const { parts } = await gateway.ready()
    const mqtt = parts.find(({ name }) => name === 'mqtt')
    expect(mqtt?.state).toBe('missing')
    expect(mqtt?.text).toMatch(/^mqtt:\/\/127\.0\.0\.1:1 is unreachable; retrying: /)
  })

  it('announces a timer that has ended, aloud and on the bus', async () => {
    let end: (event: { name: string | undefined; text: string }) => void = () => {}
    const on = ((_: string, listener: typeof end) => {
      end = listener
      return () => {}
    }) as VoiceProject['on']
    const speaker = recordingSpeaker()
    const timers: unknown[] = []
    const bus = { ...recordingBus(), timer: (message: object) => void timers.push(message) }
    await start({ project: { on }, speaker, bus })
    end({ name: 'tea', text: 'The tea timer is done.' })
    await vi.waitFor(() => expect(speaker.said).toEqual(['The tea timer is done.']))
    expect(timers).toMatchObject([{ name: 'tea', text: 'The tea timer is done.' }])
  })
})
