import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { outputOf } from '../../../tests/output-of.ts'
import { hasPseudoTerminal, onTerminal } from '../../toolpost/test/pseudo-terminal.ts'
import { readAudio, reasonToDrop } from '../src/audio/wav.ts'
import { listen } from './support/bus.ts'
import { eventually } from './support/eventually.ts'
import { temporaryFolder } from './support/programs.ts'
import { hasPart } from './support/system-parts.ts'

const COMMAND = fileURLToPath(new URL('../bin/voice-gateway.js', import.meta.url))
const OFFLINE = ['--model', 'offline']
const QUIET = ['--speaker', 'none']
const TEST_TIMEOUT_MS = 180_000

/** Processes that load a speech model, several at a time, need their while on a busy machine. */
const patiently = <T>(get: () => T) => eventually(get, TEST_TIMEOUT_MS / 3)

/** A sentence spoken into a WAV file. */
function spoken(sentence: string, folder = temporaryFolder()): string {
  const file = join(folder, 'spoken.wav')
  execFileSync('espeak-ng', ['-v', 'en-us', '-s', '160', '-w', file, sentence])
  return file
}

/** A configuration with one tool, which answers at once: no home, no process of its own. */
function greeter(policy?: object[]): string[] {
  const file = join(temporaryFolder(), 'toolpost.json')
  const implementation = { type: 'mock', mock_response: { text: 'Good evening to you' } }
  const tool = { name: 'greet', description: 'Greets', sentences: ['good evening'], implementation }
  writeFileSync(file, JSON.stringify({ tools: [tool], policy }))
  return ['--config', file, ...OFFLINE]
}

/** Runs the command to its end, as a person would, with these lines on a pipe. */
async function voiceGateway(words: string[], env: NodeJS.ProcessEnv = process.env, input = '') {
  const child = spawn(process.execPath, [COMMAND, ...words], { cwd: temporaryFolder(), env })
  const { out, err, exit } = outputOf(child)
  child.stdin.end(input)
  return { code: await exit, out: out(), err: err() }
}

/** Starts it to listen, with a virtual home, and waits until it says that it is ready. */
async function listening(words: string[] = []) {
  const args = [COMMAND, ...OFFLINE, ...words, 'listen', '--no-microphone']
  const child = spawn(process.execPath, args, { cwd: temporaryFolder() })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { out, err, exit } = outputOf(child)
  await patiently(err).toContain('Ready after')
  const [url = ''] = err().match(/mqtt:\/\/\S+/) ?? []
  return { child, exit, url, out, err }
}

/** The speech model, the home, the Z-Wave server. */
function childrenOf(parent: number | undefined): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return lines
    .map(line => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, of]) => (of === parent ? [pid] : []))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

describe.skipIf(!hasPart('espeak-ng') || !hasPart('sox'))(
  'spoken sentences',
  { timeout: TEST_TIMEOUT_MS },
  () => {
    it('switch a device, also in stereo at 48 kHz, and the answer comes out as sound', async () => {
      const folder = temporaryFolder()
      const [stereo, answer] = [join(folder, 'stereo.wav'), join(folder, 'answer.wav')]
      const format = ['-r', '48000', '-c', '2', '-b', '24']
      execFileSync('sox', [spoken('turn on switch one', folder), ...format, stereo])
      const { code, out, err } = await voiceGateway([...OFFLINE, '--out', answer, 'hear', '--json', stereo])
      expect({ code, err }).toEqual({
        code: 0,
        err: expect.stringMatching(/^Heard: Turn on switch,? one\.?\n$/),
      })
      expect(JSON.parse(out)).toMatchObject({
        outcome: 'answered',
        question: expect.stringMatching(/^Turn on switch,? one\.?$/),
        text: 'Switch One is on.',
        calls: [{ success: true }],
        durations: { transcribeMs: expect.any(Number), answerMs: expect.any(Number) },
      })
      expect(await reasonToDrop(await readAudio({ wav: readFileSync(answer) }))).toBeUndefined()
    })

    it('come over MQTT: the device switches, junk is refused in words, and the gateway goes on; nothing of it is left', async () => {
      const answer = join(temporaryFolder(), 'answer.wav')
      const gateway = await listening(['--out', answer])
      const voice = await listen(gateway.url, 'voice/response')
      const home = await listen(gateway.url, 'zwave/#')
      const transcriptions = await listen(gateway.url, 'voice/transcription')
      await patiently(() => childrenOf(gateway.child.pid).length).toBeGreaterThanOrEqual(3)
      const helpers = childrenOf(gateway.child.pid)
      const { client } = voice
      const answers = () => voice.heard.map(({ body }) => body)
      const switched = () =>
        home.heard.filter(({ topic, body }) => /Switch_One.*currentValue$/.test(topic) && Object(body).value)

      client.publish('voice/audio/kitchen', 'this is no sound')
      client.publish('voice/text', Buffer.from([0xff, 0xfe, 0x00]))
      client.publish('voice/text', '{"text": ')
      client.publish('voice/audio/kitchen', readFileSync(spoken('turn on switch one')))
      await patiently(() => answers().length).toBe(4)
      expect(answers().filter(({ outcome }) => outcome === 'dropped')).toHaveLength(3)
      expect(answers().find(({ outcome }) => outcome === 'answered')).toMatchObject({
        conversation: 'kitchen',
        text: 'Switch One is on.',
        calls: [{ name: 'control_zwave_device', success: true }],
      })
      await patiently(() => switched().length).toBeGreaterThan(0)
      await patiently(() => sizeOf(answer)).toBeGreaterThan(10_000)
      const spokenBefore = sizeOf(answer)

      gateway.child.stdin.write('grumble the floozle\nturn off switch one\n')
      await patiently(gateway.out).toMatch(/^I did not understand that\. .*\nSwitch One is off\.\n$/)
      await patiently(() => answers().length).toBe(6)
      await patiently(() => sizeOf(answer)).toBeGreaterThan(spokenBefore)
      // What it has said can be understood: by itself.
      client.publish('voice/audio', readFileSync(answer))
      await patiently(() => JSON.stringify(transcriptions.heard.map(({ body }) => body))).toMatch(
        /switch one/i,
      )
      gateway.child.kill('SIGTERM')
      expect(await gateway.exit).toBe(0)
      expect(helpers.filter(isRunning)).toEqual([])
    })
  },
)

describe('the command', { timeout: TEST_TIMEOUT_MS }, () => {
  it('answers a sentence, exit 0; one that it does not understand, exit 1', async () => {
    const quiet = [...greeter(), ...QUIET]
    expect(await voiceGateway([...quiet, 'say', 'good', 'evening'])).toEqual({
      code: 0,
      out: 'Good evening to you.\n',
      err: '',
    })
    const { code, out, err } = await voiceGateway([...quiet, 'say', 'grumble the floozle'])
    expect(code).toBe(1)
    expect(out).toMatch(/^I did not understand that\./)
    expect(err).toBe('')
  })

  it('tells a failure once', async () => {
    expect(await voiceGateway([...OFFLINE, '--speaker', 'none', 'say', 'turn on the moon'])).toEqual({
      code: 1,
      out: 'I do not know a device called "moon".\n',
      err: '',
    })
  })

  it.each([
    [['hear', 'nowhere.wav'], /^Error: nowhere\.wav cannot be read: no such file or directory\n$/],
    [['say', ' '], /^Error: Nothing to say/],
    [['--speaker', 'cow', 'say', 'hello'], /^error: option '--speaker <voice>' argument 'cow' is invalid/],
    [['--speaker', 'piper', 'say', 'hello'], /^Error: The voice piper needs a model/],
    [['--model', 'bogus:1', 'say', 'hello'], /^Error: Unknown model provider 'bogus'/],
    [
      ['--out', 'no/such/folder.wav', 'say', 'hello'],
      /^Error: --out no\/such\/folder\.wav: its folder does not/,
    ],
    [['sing'], /^Error: Unknown command 'sing'; expected one of listen, say, hear/],
  ])('refuses the mistake %j, exit 2', async (words, problem) => {
    const { code, out, err } = await voiceGateway([...OFFLINE, ...words])
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(problem) })
  })

  it('says that the answer is text only if nothing can speak; --out is refused then', async () => {
    const env = { PATH: temporaryFolder() }
    expect(await voiceGateway([...greeter(), 'say', 'good evening'], env)).toEqual({
      code: 0,
      out: 'Good evening to you.\n',
      err: expect.stringMatching(/^The answer is text only: no voice/),
    })
    const refused = await voiceGateway([...OFFLINE, '--out', 'answer.wav', 'say', 'hello'], env)
    expect(refused).toEqual({ code: 2, out: '', err: expect.stringMatching(/^Error: --out needs a voice/) })
  })

  it.skipIf(!hasPart('espeak-ng'))('says that what it should write cannot be written, exit 1', async () => {
    const words = [...greeter(), '--out', temporaryFolder(), 'say', 'good evening']
    expect(await voiceGateway(words)).toEqual({
      code: 1,
      out: 'Good evening to you.\n',
      err: expect.stringMatching(/^Cannot speak, so answers are text only: /),
    })
  })

  it('answers each line of standard input and ends after the last', async () => {
    const lines = 'grumble the floozle\n\ngood evening\n'
    const { code, out } = await voiceGateway([...greeter(), ...QUIET], { PATH: '' }, lines)
    expect(code).toBe(1)
    expect(out).toMatch(/^I did not understand that\. .*\nGood evening to you\.\n$/)
  })
})

/** A home where the greeting needs a yes. */
const POLICY = [{ tools: 'greet', from: ['voice'], then: 'ask' }]
const asking = (...words: string[]) => [...greeter(POLICY), ...QUIET, ...words]

describe.skipIf(!hasPseudoTerminal)('voice-gateway say at a terminal', { timeout: TEST_TIMEOUT_MS }, () => {
  it.each([
    ['y', 'y\r', 'Good evening to you.'],
    ['Enter', '\r', 'was denied: denied by the user (voice)'],
  ])('asks there, and takes %s', async (_key, keys, answer) => {
    const words = [COMMAND, ...asking('say', 'good evening')]
    await using person = onTerminal(words, { cwd: temporaryFolder() })
    await person.sees('[y/N] ')
    expect(person.shown()).toContain('Run greet with {}?')
    expect(person.shown()).not.toContain('Good evening to you')
    person.types(keys)
    await person.exit
    expect(person.shown()).toContain(answer)
  })
})

describe('voice-gateway without a terminal', { timeout: TEST_TIMEOUT_MS }, () => {
  it('denies what say would have to ask about, with the way to allow it', async () => {
    const { code, out } = await voiceGateway(asking('say', 'good evening'), process.env, 'y\n')
    expect(out).toContain("denied: there is no terminal to ask at; allow it with a rule in 'policy'")
    expect(code).toBe(1)
  })

  it.each([
    ['yes', 'Good evening to you.\n'],
    ['no', 'was denied: denied by the user (voice)'],
  ])('takes the next line of a pipe for the answer: %s', async (line, answer) => {
    const words = asking('listen', '--no-microphone')
    const { out, err } = await voiceGateway(words, process.env, `good evening\n${line}\n`)
    expect(err).toContain('Greet? Say yes or no.')
    expect(out).toContain(answer)
    expect(out).not.toContain('did not understand')
  })
})
