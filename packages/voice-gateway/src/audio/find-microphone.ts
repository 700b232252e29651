import { execFile } from 'node:child_process'
import { platform as currentPlatform } from '../programs/platform.ts'

/** A program that writes what it records to stdout: raw, 16 kHz, mono, 16 bits, little-endian. */
export interface RecorderCommand {
  command: string
  args: readonly string[]
}

const arecord: RecorderCommand = {
  command: 'arecord',
  args: ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', '16000', '-c', '1'],
}
const rec: RecorderCommand = {
  command: 'rec',
  args: ['-q', '-t', 'raw', '-r', '16000', '-c', '1', '-e', 'signed-integer', '-b', '16', '-L', '-'],
}

const NO_DEVICE = 'arecord lists no device: connect a microphone and check arecord -l'
const RECORDERS: Partial<Record<NodeJS.Platform, string>> = { linux: 'alsa-utils (arecord) or sox (rec)' }
const ANSWERS_WITHIN_MS = 5_000

/** The recorder of this machine, or why there is none. */
export type FoundMicrophone = { command: RecorderCommand } | { missing: string }

/**
 * Finds `arecord` if it lists a device, or sox's `rec` if there is no `arecord`. Programs are looked up in the
 * PATH of `env`.
 */
export async function findMicrophone(
  options: { platform?: NodeJS.Platform | undefined; env?: NodeJS.ProcessEnv | undefined } = {},
): Promise<FoundMicrophone> {
  const { platform = currentPlatform, env = process.env } = options
  const devices = platform === 'linux' ? await outputOf('arecord', ['-l'], env) : undefined
  // If arecord finds no device, rec would find none either.
  if (devices !== undefined)
    return /^card \d+:/m.test(devices) ? { command: arecord } : { missing: NO_DEVICE }
  if ((await outputOf('rec', ['--version'], env)) !== undefined) return { command: rec }
  return { missing: `no recorder found: install ${RECORDERS[platform] ?? 'sox (rec)'}` }
}

/** A program's output, in English; undefined if it cannot be run. */
function outputOf(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const options = { env: { ...env, LC_ALL: 'C' }, timeout: ANSWERS_WITHIN_MS, windowsHide: true }
  return new Promise(resolve => {
    // arecord reports "no soundcards found" with an exit code, although it is installed.
    execFile(command, args, options, (error, stdout) =>
      resolve(error && typeof error.code === 'string' ? undefined : stdout),
    )
  })
}
