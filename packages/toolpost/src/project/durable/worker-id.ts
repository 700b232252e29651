import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

const MAX_HOST = 32
const ID = /^[\w.-]{1,64}$/

/** The id of a folder's worker, stable across restarts; a new one each time if it cannot be saved. */
export function workerId(file: string): string {
  return keptId(file) ?? makeId(file)
}

function keptId(file: string): string | undefined {
  try {
    const id = readFileSync(file, 'utf8').trim()
    return ID.test(id) ? id : undefined
  } catch {
    return undefined
  }
}

function makeId(file: string): string {
  const host = hostname()
    .replace(/[^\w.-]/g, '')
    .slice(0, MAX_HOST)
  const id = `${host || 'worker'}-${randomBytes(3).toString('hex')}`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${id}\n`)
  } catch {
    // The folder is not writable.
  }
  return id
}
