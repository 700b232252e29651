import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeClock } from 'toolpost/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { programs } from '../../test/support/programs.ts'
import { sound, tone } from '../../test/support/spoken.ts'
import { TranscriberError } from './transcriber.ts'
import { WhisperTranscriber } from './whisper-transcriber.ts'

const samples = sound(1, tone(440, 0.5))

/** A stand-in for whisper-cli that notes its arguments and what it is given to hear, then does what the script says. */
function whisper(script: string, options: { args?: string[] } = {}) {
  const noted = '"$(dirname "$0")"'
  const { folder } = programs({
    'whisper-cli': `printf '%s\\n' "$@" > ${noted}/args; echo $$ > ${noted}/pid; [ "$3" = -f ] && cp "$4" ${noted}/heard.wav\n${script}`,
  })
  const model = join(folder, 'model.bin')
  writeFileSync(model, 'model')
  const clock = fakeClock()
  const transcriber = new WhisperTranscriber({
    command: join(folder, 'whisper-cli'),
    model,
    clock,
    ...options,
  })
  onTestFinished(() => transcriber.close())
  const note = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  const isRunning = () => existsSync(join(folder, 'pid')) && note('pid') !== ''
  return { transcriber, folder, model, clock, note, isRunning }
}

describe('WhisperTranscriber', () => {
  it('returns the words that the program prints, without what is not speech', async () => {
    const { transcriber } = whisper(
      `echo '[00:00:00.000 --> 00:00:02.000]   Turn on (music) the'; echo ' kitchen light. [BLANK_AUDIO] ♪'`,
    )
    await transcriber.ready()
    expect(await transcriber.transcribe(samples)).toBe('Turn on the kitchen light.')
  })

  it('returns nothing if nobody speaks', async () => {
    expect(await whisper("echo ' [BLANK_AUDIO]'").transcriber.transcribe(samples)).toBe('')
  })

  it('hands over the model, a WAV file that is gone afterwards, and the arguments that were set', async () => {
    const { transcriber, model, note, folder } = whisper('echo hi', { args: ['-l', 'en'] })
    await transcriber.transcribe(samples)
    const [m, modelFile, f, file = '', ...more] = note('args').split('\n')
    expect([m, modelFile, f]).toEqual(['-m', model, '-f'])
    expect(more).toEqual(['-nt', '-np', '-l', 'en'])
    expect(existsSync(file)).toBe(false)
    expect(readFileSync(join(folder, 'heard.wav'))).toHaveLength(44 + 2 * samples.length)
  })

  it('says why the program failed, and leaves no file', async () => {
    const { transcriber, note } = whisper("echo 'invalid model data' >&2; exit 3")
    const failed = transcriber.transcribe(samples)
    await expect(failed).rejects.toThrow(/whisper-cli failed \(exit code 3\): invalid model data$/)
    await expect(failed).rejects.toBeInstanceOf(TranscriberError)
    expect(existsSync(note('args').split('\n')[3] ?? '')).toBe(false)
  })

  it('says that the program or the model is missing', async () => {
    const { transcriber, model } = whisper('')
    await transcriber.ready()
    const noProgram = new WhisperTranscriber({ command: 'no-such-whisper', model })
    await expect(noProgram.ready()).rejects.toThrow('no-such-whisper is not installed, or not on the PATH')
    await expect(noProgram.transcribe(samples)).rejects.toBeInstanceOf(TranscriberError)
    const noModel = new WhisperTranscriber({ command: 'true', model: `${model}.no` })
    await expect(noModel.ready()).rejects.toThrow(`The whisper.cpp model cannot be read: ${model}.no`)
    await expect(noModel.transcribe(samples)).rejects.toBeInstanceOf(TranscriberError)
  })

  it('ends a program that hangs, and goes on', async () => {
    const { transcriber, clock, isRunning, note } = whisper('exec sleep 1000')
    const hanging = transcriber.transcribe(samples)
    await eventually(isRunning).toBe(true)
    await clock.advance(70_000)
    await expect(hanging).rejects.toThrow('did not finish within 70 s')
    expect(existsSync(note('args').split('\n')[3] ?? '')).toBe(false)
  })

  it('ends the program when it is aborted, and one that waits never begins', async () => {
    const { transcriber, isRunning, note } = whisper('exec sleep 1000')
    const [first, second] = [new AbortController(), new AbortController()]
    const running = transcriber.transcribe(samples, { signal: first.signal })
    const waiting = transcriber.transcribe(samples, { signal: second.signal })
    await eventually(isRunning).toBe(true)
    second.abort()
    await expect(waiting).rejects.toBeInstanceOf(TranscriberError)
    first.abort()
    await expect(running).rejects.toThrow('Transcription was cancelled')
    await transcriber.close()
    expect(() => process.kill(Number(note('pid')), 0)).toThrow('ESRCH')
    expect(existsSync(note('args').split('\n')[3] ?? '')).toBe(false)
  })
})
