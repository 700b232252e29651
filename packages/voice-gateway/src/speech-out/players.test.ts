import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeClock } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import { programs, temporaryFolder, watchTemporaryFiles } from '../../test/support/programs.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { fileSink } from './file-sink.ts'
import { firstThatWorks, type Player, programPlayer } from './players.ts'
import { SpeakerError } from './speaker.ts'
import { espeakVoice } from './voices.ts'
import { wavHeader, wavParts } from './wav-file.ts'

const never = { signal: new AbortController().signal }
const FORMAT = Buffer.from('010001002256000044ac000002001000', 'hex')
const OTHER_FORMAT = Buffer.from('01000200401f0000007d000004001000', 'hex')
const wavOf = (text: string, format = FORMAT) =>
  Buffer.concat([wavHeader(format, text.length), Buffer.from(text)])

describe('a player', () => {
  it.each(['aplay', 'play'])('%s reads the sound from its standard input', async name => {
    const { folder, environment } = programs({ [name]: 'cat > "$(dirname "$0")/heard"' })
    await programPlayer(join(folder, name), { environment }).play(wavOf('abcd'), never)
    expect(readFileSync(join(folder, 'heard'))).toEqual(wavOf('abcd'))
  })

  it.each(['pw-play', 'paplay', 'afplay'])('%s is given a file, which is gone afterwards', async name => {
    const { folder, environment } = programs({ [name]: 'cat "$1" > "$(dirname "$0")/heard"' })
    const left = watchTemporaryFiles()
    const player = programPlayer(join(folder, name), { environment })
    await player.play(wavOf('abcd'), never)
    expect(player.name).toBe(name)
    expect(readFileSync(join(folder, 'heard'))).toEqual(wavOf('abcd'))
    expect(left()).toEqual([])
  })

  it.each(['aplay', 'paplay'])('%s tells what went wrong', async name => {
    const { folder, environment } = programs({ [name]: 'echo "no sound card" >&2; exit 1' })
    const left = watchTemporaryFiles()
    const playing = programPlayer(join(folder, name), { environment }).play(wavOf('abcd'), never)
    await expect(playing).rejects.toThrow(/failed \(exit code 1\): no sound card$/)
    await expect(playing).rejects.toBeInstanceOf(SpeakerError)
    expect(left()).toEqual([])
  })

  it.each(['aplay', 'paplay'])('%s stops at once when the signal is aborted', async name => {
    const { folder, environment } = programs({ [name]: 'touch "$(dirname "$0")/began"; exec sleep 60' })
    const left = watchTemporaryFiles()
    const stop = new AbortController()
    const playing = programPlayer(join(folder, name), { environment }).play(wavOf('abcd'), {
      signal: stop.signal,
    })
    await expect.poll(() => existsSync(join(folder, 'began')), { interval: 5 }).toBe(true)
    stop.abort()
    await expect(playing).resolves.toBeUndefined()
    expect(left()).toEqual([])
  })

  it('plays nothing if there is no sound, or nobody listens any more', async () => {
    const player = programPlayer('no-such-player')
    await expect(player.play(new Uint8Array(), never)).resolves.toBeUndefined()
    await expect(player.play(wavOf('a'), { signal: AbortSignal.abort() })).resolves.toBeUndefined()
    await expect(player.play(wavOf('a'), never)).rejects.toThrow('no-such-player is not installed')
  })
})

describe('firstThatWorks', () => {
  const SECOND = 'x'.repeat(44_100)
  /** Players that note what they play, and fail as the test says: at once, or after so many milliseconds. */
  function machine(...names: [string, ...string[]]) {
    const clock = fakeClock()
    const log: string[] = []
    const failing = new Map<string, number>()
    const playerOf = (name: string): Player => ({
      name,
      play: async () => {
        log.push(name)
        const afterMs = failing.get(name)
        if (afterMs === undefined) return
        await clock.advance(afterMs)
        throw new SpeakerError(`${name} cannot play`)
      },
    })
    const [first, ...others] = names
    const player = firstThatWorks([playerOf(first), ...others.map(playerOf)], { clock })
    const heardBy = async (text = 'a') => {
      log.length = 0
      await player.play(wavOf(text), never).catch(error => log.push(error.message))
      return [...log]
    }
    return { player, clock, failing, heardBy }
  }

  it('moves on to the next player if one fails, and stays there', async () => {
    const { player, failing, heardBy } = machine('pw-play', 'aplay', 'play')
    failing.set('pw-play', 0)
    expect(player.name).toBe('pw-play')
    expect(await heardBy()).toEqual(['pw-play', 'aplay'])
    expect(await heardBy()).toEqual(['aplay'])
    expect(player.name).toBe('aplay')
  })

  it('tries a better player again after a minute, and stays with it if it works', async () => {
    const { player, clock, failing, heardBy } = machine('pw-play', 'aplay')
    failing.set('pw-play', 0)
    await heardBy()
    await clock.advance(59_999)
    expect(await heardBy()).toEqual(['aplay'])
    await clock.advance(1)
    expect(await heardBy()).toEqual(['pw-play', 'aplay'])
    expect(await heardBy()).toEqual(['aplay'])
    await clock.advance(60_000)
    failing.clear()
    expect(await heardBy()).toEqual(['pw-play'])
    expect(player.name).toBe('pw-play')
  })

  it('says what the last one said if none works, and starts over with the first', async () => {
    const { failing, heardBy } = machine('pw-play', 'aplay')
    failing.set('pw-play', 0).set('aplay', 0)
    expect(await heardBy()).toEqual(['pw-play', 'aplay', 'aplay cannot play'])
    expect(await heardBy()).toEqual(['pw-play', 'aplay', 'aplay cannot play'])
    failing.delete('pw-play')
    expect(await heardBy()).toEqual(['pw-play'])
  })

  it('comes back to a better player as soon as the other one fails', async () => {
    const { failing, heardBy } = machine('pw-play', 'aplay')
    failing.set('pw-play', 0)
    await heardBy()
    failing.clear()
    failing.set('aplay', 0)
    expect(await heardBy()).toEqual(['aplay', 'pw-play'])
  })

  it('keeps a player that works, though it failed a moment ago', async () => {
    const { failing, heardBy } = machine('pw-play', 'paplay', 'aplay')
    failing.set('pw-play', 0).set('paplay', 0)
    await heardBy()
    failing.delete('paplay')
    failing.set('aplay', 0)
    expect(await heardBy()).toEqual(['aplay', 'pw-play', 'paplay'])
    expect(await heardBy()).toEqual(['paplay'])
  })

  it('plays nothing twice: a sound that was heard for the most part is not handed on, the next one is', async () => {
    const { failing, heardBy } = machine('pw-play', 'aplay')
    failing.set('pw-play', 500)
    expect(await heardBy(SECOND)).toEqual(['pw-play', 'pw-play cannot play'])
    expect(await heardBy(SECOND)).toEqual(['aplay'])
  })

  it.each([
    ['a long sound', SECOND, 499],
    ['a short one, since a program needs its time to start', 'a', 299],
  ])('hands on %s that broke off early', async (_what, text, afterMs) => {
    const { failing, heardBy } = machine('pw-play', 'aplay')
    failing.set('pw-play', afterMs)
    expect(await heardBy(text)).toEqual(['pw-play', 'aplay'])
  })
})

describe('fileSink', () => {
  it('gathers the pieces in one file that is whole after each', async () => {
    const path = join(temporaryFolder(), 'answer.wav')
    writeFileSync(path, 'something longer that was there before '.repeat(10))
    const sink = fileSink(path)
    await sink.play(wavOf('abcd'), never)
    expect(readFileSync(path)).toEqual(wavOf('abcd'))
    await Promise.all([sink.play(wavOf('ef'), never), sink.play(wavOf('gh'), never)])
    expect(readFileSync(path)).toEqual(wavOf('abcdefgh'))
  })

  it('leaves out what was interrupted', async () => {
    const path = join(temporaryFolder(), 'answer.wav')
    await fileSink(path).play(wavOf('abcd'), { signal: AbortSignal.abort() })
    expect(existsSync(path)).toBe(false)
  })

  it('refuses sound of another format with a reason, and goes on', async () => {
    const path = join(temporaryFolder(), 'answer.wav')
    const sink = fileSink(path)
    await sink.play(wavOf('abcd'), never)
    await expect(sink.play(wavOf('efgh', OTHER_FORMAT), never)).rejects.toThrow(
      `${path} contains audio of 22050 Hz, 1 channel, 16 bits; audio of 8000 Hz, 2 channels, 16 bits cannot be appended.`,
    )
    await sink.play(wavOf('ef'), never)
    expect(readFileSync(path)).toEqual(wavOf('abcdef'))
  })

  it('says that it cannot write', async () => {
    const path = join(temporaryFolder(), 'no', 'such', 'folder.wav')
    await expect(fileSink(path).play(wavOf('abcd'), never)).rejects.toThrow(
      `The answer could not be written to ${path}: ENOENT`,
    )
  })

  it.runIf(hasPart('espeak-ng'))('joins what espeak-ng says', async () => {
    const path = join(temporaryFolder(), 'answer.wav')
    const sink = fileSink(path)
    const [one, two] = await Promise.all(['One.', 'Two.'].map(text => espeakVoice().synthesize(text, never)))
    if (!one || !two) throw new Error('two sounds were expected')
    await sink.play(one, never)
    await sink.play(two, never)
    const { samples } = wavParts(readFileSync(path))
    expect(samples).toEqual(Buffer.concat([wavParts(one).samples, wavParts(two).samples]))
  })
})
