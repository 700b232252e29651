import { execFile } from 'node:child_process'

/** A program that writes what it hears to its output: raw, 16 kHz, mono, 16 bits, little-endian. */
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

const ANSWERS_WITHIN_MS = 5_000

/**
 * The recorder of this machine: `arecord` where it lists a device, or sox's `rec` where there is no `arecord`;
 * undefined where there is neither. `env` is where programs are looked for.
 */
export async function findMicrophone(
  options: { platform?: NodeJS.Platform | undefined; env?: NodeJS.ProcessEnv | undefined } = {},
): Promise<RecorderCommand | undefined> {
  const { platform = process.platform, env = process.env } = options
  const devices = platform === 'linux' ? await outputOf('arecord', ['-l'], env) : undefined
  // Where arecord finds no device, rec would find none either.
  if (devices !== undefined) return /^card \d+:/m.test(devices) ? arecord : undefined
  return (await outputOf('rec', ['--version'], env)) === undefined ? undefined : rec
}

/** What a program prints; undefined where it cannot be run. */
function outputOf(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise(resolve => {
    // arecord says "no soundcards found" with an exit code, and is there nevertheless.
    execFile(command, args, { env, timeout: ANSWERS_WITHIN_MS }, (error, stdout) =>
      resolve(error && typeof error.code === 'string' ? undefined : stdout),
    )
  })
}
