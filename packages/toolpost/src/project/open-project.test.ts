import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from './open-project.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolpost-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

async function open(config: object) {
  const file = join(folder, 'toolpost.json')
  await writeFile(file, JSON.stringify(config))
  return openProject({ file, logger: () => silentLogger, say: () => {} })
}

describe('openProject', () => {
  it('gives the tools of a configuration and runs them; servers are not started', async () => {
    const declared = {
      name: 'greet',
      description: 'Greets',
      parameters: { type: 'object' },
      implementation: { type: 'mock', mock_response: 'hello' },
    }
    const project = await open({ tools: [declared], model: 'offline' })
    expect(await project.executor.run({ name: 'greet', args: {} })).toMatchObject({
      success: true,
      result: 'hello',
    })
    expect(project.config.model).toBe('offline')
    expect(await project.ready()).toEqual([])
    await project.close()
  })

  it('has the local tools that `local` names', async () => {
    const names = async (config: object) => {
      const project = await open(config)
      await project.close()
      return project.tools.getTools().map(({ name }) => name)
    }
    expect(await names({})).toEqual(expect.arrayContaining(['datetime', 'search', 'volume', 'echo']))
    expect(await names({ local: ['datetime'] })).toEqual(['datetime'])
    expect(await names({ local: false })).toEqual([])
    await expect(open({ local: ['dattime'] })).rejects.toThrow(/local\[0\]: must be one of: datetime, search/)
    await expect(open({ local: true })).rejects.toThrow(/local: must be array or false, got boolean/)
  })

  it('reads what the voice gateway needs: files from its own folder, the broker from the environment', async () => {
    vi.stubEnv('HOME_BROKER', 'mqtt://home.example:1883')
    const { config } = await open({
      voice: {
        transcriber: 'whisper.cpp',
        whisper: { model: 'models/base.bin' },
        piperModel: './voice.onnx',
        mqtt: { url: '${HOME_BROKER}', password: '${HOME_PASSWORD:-secret}' },
      },
    })
    expect(config.voice).toEqual({
      transcriber: 'whisper.cpp',
      whisper: { model: join(folder, 'models', 'base.bin') },
      piperModel: join(folder, 'voice.onnx'),
      mqtt: { url: 'mqtt://home.example:1883', password: 'secret' },
    })
  })

  const mistakes: [object, RegExp][] = [
    [{ voice: { speaker: 'cow' } }, /voice\.speaker: must be one of: auto, piper/],
    [
      { voice: { mqtt: { url: '${NOT_SET_AT_ALL}' } } },
      /voice\.mqtt\.url: the environment variable NOT_SET_AT_ALL/,
    ],
    [{ voice: { whisper: {} } }, /voice\.whisper: missing 'voice\.whisper\.model'/],
    [{ voice: { transcriber: 'whisper.cpp' } }, /voice\.whisper: whisper\.cpp needs a model file/],
    [{ voice: { speaker: 'piper' } }, /voice\.piperModel: piper needs a voice file/],
    [{ voice: { colour: 'red' } }, /expected one of transcriber/],
  ]
  it.each(mistakes)('refuses %j and names the place', async (config, problem) => {
    await expect(open(config)).rejects.toThrow(problem)
  })
})
