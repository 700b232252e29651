import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { hasFileModes } from '../util/platform.ts'
import { writePrivate } from '../util/private-file.ts'
import { isLoopback } from '../util/text.ts'

// What a project keeps in `.toolpost/`, next to its configuration, readable by its owner only.

const STATE_FOLDER = '.toolpost'
const TOKEN_FILE = 'token'
const GATEWAY_FILE = 'gateway.json'
const OWNER_ONLY = 0o600

/** The `.toolpost` folder of the project with this configuration file; of the working directory if it has none. */
export function stateFolder(file: string | undefined): string {
  return join(file === undefined ? process.cwd() : dirname(file), STATE_FOLDER)
}

export function readToken(folder: string): string | undefined {
  const file = join(folder, TOKEN_FILE)
  try {
    // One that others may read is not ours: a checkout of a repository, for example, never has this mode.
    if (hasFileModes && (fs.statSync(file).mode & 0o777) !== OWNER_ONLY) return undefined
    return /^[\x21-\x7e]{16,}$/.exec(fs.readFileSync(file, 'utf8').trim())?.[0]
  } catch {
    return undefined
  }
}

export function makeToken(folder: string): string {
  const token = randomBytes(24).toString('base64url')
  writePrivate(join(folder, TOKEN_FILE), `${token}\n`)
  return token
}

/** Calls `onChange` with the new token when it is rotated; returns a function that stops this. */
export function followToken(folder: string, onChange: (token: string) => void): () => void {
  const file = join(folder, TOKEN_FILE)
  let known = readToken(folder)
  const look = () => {
    const token = readToken(folder) ?? known
    if (token !== undefined && token !== known) onChange(token)
    known = token
  }
  fs.watchFile(file, { interval: 500, persistent: false }, look)
  return () => fs.unwatchFile(file, look)
}

/** A running gateway. The digest tells which token it takes without revealing it. */
type RunningGateway = { url: string; pid: number } & {
  [Key in 'tokenDigest' | 'config']?: string | undefined
}
type Announced = { url: string; token: string | undefined; config?: string }

/** Lets other commands in this folder find the gateway; returns a function that removes the note. */
export function announceGateway(folder: string, { url, token, config }: Announced): () => void {
  const file = join(folder, GATEWAY_FILE)
  const write = (note: RunningGateway) => writePrivate(file, `${JSON.stringify(note)}\n`)
  const before = runningGateway(folder)
  write({ url, pid: process.pid, tokenDigest: token && digestOf(token), config })
  return () => {
    if (runningGateway(folder)?.pid !== process.pid) return
    // A second one in the same folder: the first is found again.
    if (before && before.pid !== process.pid && isAlive(before.pid)) write(before)
    else fs.rmSync(file, { force: true })
  }
}

export function runningGateway(folder: string): RunningGateway | undefined {
  const note = readJson(join(folder, GATEWAY_FILE)) as RunningGateway | undefined
  const isHere = note && URL.canParse(note.url) && isLoopback(new URL(note.url).hostname)
  return isHere && isAlive(note.pid) ? note : undefined
}

export const digestOf = (token: string) => createHash('sha256').update(token).digest('hex')

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function readJson(file: string): unknown {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
