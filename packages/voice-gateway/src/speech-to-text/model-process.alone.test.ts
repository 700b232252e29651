import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { temporaryFolder } from '../../test/support/programs.ts'
import { silence } from '../../test/support/spoken.ts'
import { MoonshineTranscriber } from './moonshine-transcriber.ts'
import { TranscriberError } from './transcriber.ts'

const second = silence(1)

/** Both what it says and what it is; taken down at once, because it may be rejected before anybody looks. */
function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => expect.fail('it did not fail'),
    error => {
      expect(error).toBeInstanceOf(TranscriberError)
      return error.message
    },
  )
}

/** Runs this code as the child: `answer(message, text)` sends a text. By default it answers and can be told to stop. */
function transcriberOf(code: string, heading = "process.send({ type: 'ready' })") {
  const childFile = pathToFileURL(join(temporaryFolder(), 'child.mjs'))
  writeFileSync(
    childFile,
    `const answer = ({ id }, text) => process.send({ type: 'answer', id, value: { text: String(text), score: 0, sentences: [] } })
    process.on('disconnect', () => process.exit())
    process.on('message', message => { ${code} })
    ${heading}`,
  )
  const clock = fakeClock()
  const logger = recordingLogger()
  const transcriber = new MoonshineTranscriber({ childFile, clock, logger })
  onTestFinished(() => transcriber.close())
  return { transcriber, clock, logger, childFile }
}

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

describe('the process of the speech model', () => {
  it('answers one request after the other', async () => {
    const { transcriber } = transcriberOf(`
      globalThis.busy = (globalThis.busy ?? 0) + 1
      const most = globalThis.busy
      setImmediate(() => { globalThis.busy--; answer(message, message.samples.length + ' ' + most) })`)
    const lengths = [5, 3, 9]
    const texts = await Promise.all(lengths.map(length => transcriber.transcribe(new Float32Array(length))))
    expect(texts).toEqual(['5 1', '3 1', '9 1'])
  })

  it('is ended when it hangs, and the next request finds a new one', async () => {
    const { transcriber, clock } = transcriberOf(
      "if (message.samples.length > 1000) for (;;); answer(message, 'ok')",
    )
    await transcriber.ready()
    const pid = transcriber.processId
    const hanging = failure(transcriber.transcribe(second))
    const next = transcriber.transcribe(new Float32Array(1))
    await eventually(() => clock.pending).toBe(1)
    await clock.advance(15_999)
    expect(isAlive(pid)).toBe(true)
    await clock.advance(1)
    expect(await hanging).toBe('The speech model did not answer within 16 s and was killed')
    expect(await next).toBe('ok')
    expect(transcriber.processId).not.toBe(pid)
    await eventually(() => isAlive(pid)).toBe(false)
  })

  it('may die under a request, which says so, and the next request finds a new one', async () => {
    const { transcriber, logger } = transcriberOf(
      "if (message.samples.length > 1000) { console.error('out of luck'); process.exit(7) } answer(message, 'ok')",
    )
    await expect(transcriber.transcribe(second)).rejects.toThrow(
      'The speech model exited (exit code 7): out of luck',
    )
    expect(await transcriber.transcribe(new Float32Array(1))).toBe('ok')
    expect(logger.at('warn')).toHaveLength(1)
  })

  it('is not started in a loop when it dies again and again', async () => {
    const { transcriber, clock } = transcriberOf('', "console.error('no such model'); process.exit(1)")
    const first = 'The speech model exited (exit code 1): no such model'
    await expect(transcriber.transcribe(second)).rejects.toThrow(first)
    await expect(transcriber.ready()).rejects.toThrow(first)
    const refusal = `The speech model failed 2 times in a row; retrying in 1 s. ${first}`
    await expect(transcriber.transcribe(second)).rejects.toThrow(refusal)
    expect(transcriber.processId).toBeUndefined()
    await clock.advance(1_000)
    await expect(transcriber.transcribe(second)).rejects.toThrow(first)
    await expect(transcriber.transcribe(second)).rejects.toThrow('3 times in a row; retrying in 2 s')
  })

  it('says what is wrong if the models cannot be loaded, or not in time', async () => {
    const unusable = transcriberOf('', "process.send({ type: 'unusable', message: 'no models' })")
    await expect(unusable.transcriber.ready()).rejects.toThrow('The speech model cannot be loaded: no models')
    const slow = transcriberOf('', '')
    const ready = failure(slow.transcriber.ready())
    await slow.clock.advance(60_000)
    expect(await ready).toBe('The speech model did not load within 60 s and was killed')
  })

  it('is told to stop when a request is aborted, which rejects at once, and stays', async () => {
    const { transcriber } = transcriberOf(`
      if (message.type === 'stop') setImmediate(() => answer(message, 'half'))
      else if (message.samples.length === 1) answer(message, 'ok')`)
    await transcriber.ready()
    const pid = transcriber.processId
    const [working, waiting] = [new AbortController(), new AbortController()]
    const first = transcriber.transcribe(second, { signal: working.signal })
    const later = transcriber.transcribe(second, { signal: waiting.signal })
    const last = transcriber.transcribe(new Float32Array(1))
    waiting.abort()
    await expect(later).rejects.toThrow('Transcription was cancelled')
    working.abort()
    await expect(first).rejects.toBeInstanceOf(TranscriberError)
    expect(await last).toBe('ok')
    expect(transcriber.processId).toBe(pid)
  })

  it('gets no flags of its parent, no secrets and no place to print', async () => {
    process.env.SOME_SECRET = 'secret'
    onTestFinished(() => void delete process.env.SOME_SECRET)
    const { transcriber } = transcriberOf(`console.log('junk')
      answer(message, JSON.stringify([process.execArgv, process.env.SOME_SECRET, process.env.NODE_OPTIONS]))`)
    expect(await transcriber.transcribe(second)).toBe('[["--expose-gc"],null,null]')
  })
})

describe('the life of the real process', () => {
  const compiled = new URL('../../dist/speech-to-text/moonshine-transcriber.js', import.meta.url)

  /** A program that transcribes a second of silence, prints the process's id, then does what `after` says. */
  function program(after: string): ChildProcess {
    const code = `import { MoonshineTranscriber } from ${JSON.stringify(compiled.href)}
      const transcriber = new MoonshineTranscriber()
      console.log(JSON.stringify(await transcriber.transcribe(new Float32Array(16000))), transcriber.processId)
      ${after}`
    return spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  it('keeps its parent alive while a request is under way, not when it is idle, and ends with it', async () => {
    const parent = program('')
    const [[line], [code]] = await Promise.all([once(parent.stdout ?? parent, 'data'), once(parent, 'exit')])
    const [, text, pid] = /^(.*) (\d+)\n$/.exec(String(line)) ?? []
    expect([text, code]).toEqual(['""', 0])
    await eventually(() => isAlive(Number(pid))).toBe(false)
  })

  it('ends when its parent is killed', async () => {
    const parent = program('setInterval(() => {}, 1e6)')
    const [line] = await once(parent.stdout ?? parent, 'data')
    const pid = Number(/(\d+)\n$/.exec(String(line))?.[1])
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await eventually(() => isAlive(pid)).toBe(false)
  })
})
