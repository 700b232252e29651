import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programs, watchTemporaryFiles } from '../../test/support/programs.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { SpeakerError } from './speaker.ts'
import { espeakVoice, piperVoice, sayVoice } from './voices.ts'
import { wavHeader, wavParts } from './wav-file.ts'

const never = new AbortController().signal
const seconds = (wav: Uint8Array) => wavParts(wav).samples.length / wavParts(wav).bytesPerSecond

const FORMAT = Buffer.from('010001002256000044ac000002001000', 'hex')
const SHORT_WAV = Buffer.concat([wavHeader(FORMAT, 4), Buffer.from('abcd')])
const OCTAL_WAV = [...SHORT_WAV].map(byte => `\\0${byte.toString(8).padStart(3, '0')}`).join('')

describe.runIf(hasPart('espeak-ng'))('espeak-ng', () => {
  const voice = espeakVoice({ language: 'en-us' })
  const spoken = (text: string) => voice.synthesize(text, { signal: never })

  it('makes a WAV file of a sentence, with true sizes in its header', async () => {
    const wav = await spoken('The kitchen light is on.')
    expect(seconds(wav)).toBeGreaterThan(1)
    expect(Buffer.from(wav).readUInt32LE(4)).toBe(wav.length - 8)
  })

  it.each([
    ['--help', 'minus minus help'],
    ['-w /tmp/x.wav hello', 'w slash tmp slash x dot wav hello'],
    ['first line\nsecond line', 'first line second line'],
    ['before\0after the zero', 'before after the zero'],
    ['it\'s a "quoted" $(word)', 'its a quoted dollar word'],
    ['<voice name="de">hello there</voice>', 'voice name hello there voice'],
    ['[[h@loU]] said the phonemes', 'h at lou said the phonemes'],
  ])('says %j, and does not take it for an order', async (text, similar) => {
    const [one, other] = [seconds(await spoken(text)), seconds(await spoken(similar))]
    expect(one).toBeGreaterThan(other * 0.4)
    expect(one).toBeLessThan(other * 2.5)
  })

  it('says nothing if there is nothing to say', async () => {
    expect(seconds(await spoken(''))).toBeLessThan(0.1)
  })

  it('says that it does not know a language', async () => {
    const failed = espeakVoice({ language: 'nonsense' }).synthesize('hello', { signal: never })
    await expect(failed).rejects.toThrow(
      'espeak-ng failed (exit code 1): Error: The specified espeak-ng voice does not exist.',
    )
    await expect(failed).rejects.toBeInstanceOf(SpeakerError)
  })
})

describe('piper', () => {
  it('is given the model, and the text on its standard input', async () => {
    const { folder, environment } = programs({
      piper: `echo "$@" > "$(dirname "$0")/args"; cat > "$(dirname "$0")/text"; for last; do :; done; printf '${OCTAL_WAV.replaceAll('\\0', '\\')}' > "$last"`,
    })
    const left = watchTemporaryFiles()
    const voice = piperVoice('/voices/amy.onnx', { program: join(folder, 'piper'), environment })
    await expect(voice.synthesize('two\nlines --help', { signal: never })).resolves.toEqual(SHORT_WAV)
    expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(
      /^--model \/voices\/amy\.onnx --output_file \S+\.wav\n$/,
    )
    expect(readFileSync(join(folder, 'text'), 'utf8')).toBe('two lines --help\n')
    expect(left()).toEqual([])
  })

  it('leaves no file behind when it fails, and tells its last words', async () => {
    const { folder, environment } = programs({ piper: 'echo first >&2; echo "no such model" >&2; exit 3' })
    const left = watchTemporaryFiles()
    const voice = piperVoice('x.onnx', { program: join(folder, 'piper'), environment })
    await expect(voice.synthesize('hello', { signal: never })).rejects.toThrow(
      /piper failed \(exit code 3\): no such model$/,
    )
    expect(left()).toEqual([])
  })

  it('says so if something else came out', async () => {
    const { folder, environment } = programs({ piper: 'for last; do :; done; echo text > "$last"' })
    const voice = piperVoice('x.onnx', { program: join(folder, 'piper'), environment })
    await expect(voice.synthesize('hello', { signal: never })).rejects.toThrow('did not produce a WAV file')
  })
})

describe('say', () => {
  it('is asked for a WAV file, and reads its text', async () => {
    const { folder, environment } = programs({ say: 'echo "$@" > "$(dirname "$0")/args"' })
    await sayVoice({ program: join(folder, 'say'), environment }).synthesize('hello', { signal: never })
    expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(
      /^--file-format=WAVE --data-format=LEI16@22050 -f - -o \S+\.wav\n$/,
    )
  })
})

describe('a voice', () => {
  it('is not given what it would take for an order', async () => {
    const { folder, environment } = programs({ 'espeak-ng': 'cat > "$(dirname "$0")/text"' })
    const voice = espeakVoice({ program: join(folder, 'espeak-ng'), environment })
    await voice.synthesize('[[h@loU]] and [[[slnc 5000]]]\n-x', { signal: never })
    expect(readFileSync(join(folder, 'text'), 'utf8')).toBe('[ [h@loU]] and [ [ [slnc 5000]]] -x\n')
  })

  const hanging = () => {
    const { folder, environment } = programs({ slow: 'echo $$ > "$(dirname "$0")/pid"; exec sleep 60' })
    return { folder, program: join(folder, 'slow'), environment }
  }
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  it('says that its program is missing', async () => {
    const missing = espeakVoice({ program: 'no-such-voice' }).synthesize('hello', { signal: never })
    await expect(missing).rejects.toThrow('no-such-voice is not installed, or not on the PATH.')
  })

  it('is ended when it takes too long', async () => {
    const voice = espeakVoice({ ...hanging(), deadlineMs: 50 })
    await expect(voice.synthesize('hello', { signal: never })).rejects.toThrow(
      'did not finish within 0.05 s.',
    )
  })

  it('is ended when the signal is aborted', async () => {
    const { folder, ...options } = hanging()
    const stop = new AbortController()
    const speaking = espeakVoice(options).synthesize('hello', { signal: stop.signal })
    const pid = await expect
      .poll(() => Number(readFileSync(join(folder, 'pid'), 'utf8')), { interval: 5 })
      .toBeGreaterThan(0)
      .then(() => Number(readFileSync(join(folder, 'pid'), 'utf8')))
    stop.abort()
    await expect(speaking).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => isAlive(pid), { interval: 5 }).toBe(false)
  })

  it('is not started if the signal was already aborted', async () => {
    const voice = espeakVoice({ program: 'no-such-voice' })
    await expect(voice.synthesize('hello', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })
})
