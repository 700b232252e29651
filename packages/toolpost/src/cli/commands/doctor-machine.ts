import { accessSync, constants, existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { HistoryError, hasDatabase, openFile } from '../../history/database.ts'
import { zwavePackage } from '../../project/example-home.ts'
import type { Project } from '../../project/project.ts'
import { historyFile } from '../../project/project-history.ts'
import { missingVoice } from '../../project/voice.ts'
import { useFirstWorkingMixer } from '../../tools/local/volume.ts'
import type { Finding } from './doctor.ts'

const DATABASE_TIMEOUT_MS = 3_000
const MIXER_TIMEOUT_MS = 2_000
const SPEAKERS = ['piper', 'espeak-ng', 'say']

/** Speech, mixer, files and databases of this machine. Parts that are not configured may be missing. */
export async function machineFindings(project: Project): Promise<Finding[]> {
  return [...example(project), speech(project), await mixer(), history(project), ...(await database(project))]
}

function example({ file }: Project): Finding[] {
  if (file !== undefined || zwavePackage() !== undefined) return []
  const text = 'example: the virtual home is not installed, so its tools are missing'
  return [{ ok: true, isOff: true, text, advice: ['Run: npm install zwave-mcp-server'] }]
}

function speech({ config: { voice } }: Project): Finding {
  const install = missingVoice()
  if (install)
    return {
      ok: voice === undefined,
      isOff: true,
      text: 'speech: not installed',
      advice: [`Run: ${install}`],
    }
  const files = [voice?.whisper?.model, voice?.piperModel].filter(each => each !== undefined)
  const gone = files.find(each => !existsSync(each))
  if (gone !== undefined) return { ok: false, text: `speech: ${gone} does not exist` }
  const wanted = voice?.speaker
  const speaker = SPEAKERS.find(name =>
    (wanted ?? 'auto') === 'auto' || wanted === name ? onPath(name) : false,
  )
  if (speaker || wanted === 'none')
    return { ok: true, text: `speech: installed, ${speaker ? `speaks with ${speaker}` : 'speaking is off'}` }
  const isConfigured = wanted !== undefined && wanted !== 'auto'
  return {
    ok: !isConfigured,
    isOff: true,
    text: `speech: installed, but cannot speak: ${wanted && isConfigured ? wanted : SPEAKERS.join(', ')} not found`,
    advice: ['Install espeak-ng, or piper with a voice'],
  }
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some(folder => folder !== '' && existsSync(join(folder, program)))
}

async function mixer(): Promise<Finding> {
  try {
    const search = { mixerTimeoutMs: MIXER_TIMEOUT_MS }
    const found = await useFirstWorkingMixer(search, async ({ program, read }, run) => {
      const { level } = await read(run)
      return `${program}, at ${level} %`
    })
    return { ok: true, text: `mixer: ${found}` }
  } catch (error) {
    return { ok: true, isOff: true, text: `mixer: ${(error as Error).message}` }
  }
}

function history(project: Project): Finding {
  const file = historyFile(project)
  if (file === undefined) return { ok: true, isOff: true, text: 'history: off; calls are not kept' }
  if (!hasDatabase())
    return {
      ok: project.config.history === undefined,
      isOff: true,
      text: 'history: not installed; calls are not kept',
      advice: ['Run: npm i libsql'],
    }
  try {
    if (!existsSync(file)) accessSync(existingFolder(dirname(file)), constants.W_OK)
    else openFile(file).database.close()
    return { ok: true, text: `history: ${file}${existsSync(file) ? '' : ' (created by the first call)'}` }
  } catch (error) {
    const isOutdated = error instanceof HistoryError && error.reason === 'outdated'
    const rest = isOutdated ? '; the next call moves it aside and starts a new one' : ''
    return { ok: isOutdated, text: `history: ${(error as Error).message}${rest}` }
  }
}

function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder))
}

/** PostgreSQL, for durable calls. */
async function database({ config }: Project): Promise<Finding[]> {
  const { durable } = config as { durable?: { databaseUrl?: string } }
  if (durable?.databaseUrl === undefined) return []
  const shown = withoutCredentials(durable.databaseUrl)
  try {
    const { hostname, port } = new URL(durable.databaseUrl)
    const before = performance.now()
    await reach(hostname.replace(/^\[|\]$/g, '') || '127.0.0.1', Number(port) || 5_432)
    return [{ ok: true, text: `database ${shown}: answers in ${Math.round(performance.now() - before)} ms` }]
  } catch (error) {
    const advice = ['Start PostgreSQL, or correct durable.databaseUrl']
    return [{ ok: false, text: `database ${shown}: ${(error as Error).message}`, advice }]
  }
}

export function reach(host: string, port: number, timeoutMs = DATABASE_TIMEOUT_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    socket.once('connect', () => resolve(socket.destroy() && undefined))
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    socket.once('error', reject)
  })
}

/** The address without user and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?.*@/i, '$1').replace(/[?#].*$/s, '')
}
