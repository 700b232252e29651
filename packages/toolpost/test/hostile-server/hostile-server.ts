import { existsSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { fileURLToPath } from 'node:url'

/** What a hostile server does wrong on its own. Misbehaviour in a call is requested by the call. */
export interface HostileFaults {
  /** The server's ledger of starts, lists, calls and cancellations: `eventsIn` reads it. It survives crashes. */
  journal?: string
  /** How many starts succeed before all others crash; needs the journal. */
  healthyStarts?: number
  crashCode?: number
  /** Written to stderr at every start. */
  stderr?: string
  /** How much it writes to stderr when its stdin ends, before it exits. */
  stderrBytesAtClose?: number
  /** Tools to offer instead of its own, as in `tools/list`. Each answers with the server's label. */
  tools?: object[]
  label?: string
  /** Its tools after `change_tools`. */
  toolsAfter?: object[]
  /** How many tools to offer, `tool_0` and so on; fewer after `change_tools`. */
  toolCount?: number
  /** Announces that its tools changed after every list of them. */
  listStorm?: boolean
  /** Never answers `initialize`. */
  hangs?: boolean
  /** Keeps running when its stdin ends and on SIGTERM. */
  isStubborn?: boolean
  /** Whether its hints are relied on; `true` if left out. */
  trust?: boolean
}

const SERVER = new URL('../../../proof/dist/server/main.js', import.meta.url)
const EXTENSION = new URL('./extension.mjs', import.meta.url)

/**
 * An `mcpServers` entry for the misbehaving server of `packages/proof`, with more tools named after what they do (`never`,
 * `die`, `junk`, `flood_stderr`, …).
 */
export function hostileServer({
  journal = devNull,
  hangs,
  isStubborn,
  trust = true,
  ...hostile
}: HostileFaults = {}): { command: string; args: string[]; trust: boolean } {
  const faults = { hangs, isStubborn }
  const settings = { ledger: journal, faults, prefix: '', trapUrl: '', extension: EXTENSION.href, hostile }
  return { command: process.execPath, args: [fileURLToPath(SERVER), JSON.stringify(settings)], trust }
}

interface Entry {
  what: string
  pid: number
  tool?: string
}

function entriesIn(journal: string): Entry[] {
  const text = existsSync(journal) ? readFileSync(journal, 'utf8') : ''
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

/** What happened at a server: `start`, `list`, `call <tool>`, `cancelled`. */
export function eventsIn(journal: string): string[] {
  return entriesIn(journal).map(({ what, tool }) => (tool === undefined ? what : `${what} ${tool}`))
}

/** The processes of a server, one for each start. */
export function pidsIn(journal: string): number[] {
  return entriesIn(journal).flatMap(({ what, pid }) => (what === 'start' ? [pid] : []))
}
