import { fileURLToPath } from 'node:url'

/** What a hostile server does wrong on its own. Misbehaviour in a call is requested by the call. */
export interface HostileFaults {
  /** A file that gets a line for every start, call and cancellation; it survives the server's crashes. */
  journal?: string
  /** How many of its first starts crash; needs the journal to count them. */
  crashes?: number
  /** How many starts succeed before all others crash; needs the journal. */
  healthyStarts?: number
  crashCode?: number
  /** Written to stderr at every start. */
  stderr?: string
  /** Lines written to stdout at every start. */
  junk?: string[]
  /** Never answers `initialize`. */
  neverShakesHands?: boolean
  /** Keeps running when its stdin ends and on SIGTERM. */
  ignoresSigterm?: boolean
  /** How much it writes to stderr when its stdin ends, before it exits. */
  stderrBytesAtClose?: number
  /** How many children it starts; they hold its pipes open. */
  children?: number
  /** The only protocol version it speaks. */
  protocolVersion?: string
  /** Tools to offer instead of its own, as in `tools/list`. Each answers with the server's label. */
  tools?: object[]
  label?: string
  /** How many tools to offer, `tool_0` and so on; fewer after `change_tools`. */
  toolCount?: number
  /** Announces that its tools changed after every list of them. */
  listStorm?: boolean
}

/**
 * An `mcpServers` entry for a server that misbehaves on request: through these faults, and through tools named after
 * what they do (`never`, `die`, `half_line`, `wrong_id`, `flood_stderr`, …).
 */
export function hostileServer(faults: HostileFaults = {}): {
  command: string
  args: string[]
  env: Record<string, string>
} {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL('./server.mjs', import.meta.url))],
    env: { TOOLPOST_HOSTILE_FAULTS: JSON.stringify(faults) },
  }
}
