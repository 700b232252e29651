/** What a hostile server does wrong by itself. What it does wrong in a call, the call asks it for. */
export interface HostileFaults {
  /** A file that gets a line for every start, call and cancellation, and so outlives the server's deaths. */
  journal?: string
  /** How many of its starts end in a crash; needs the journal to count them. */
  crashes?: number
  /** Starts that go well before all others crash; needs the journal. */
  healthyStarts?: number
  crashCode?: number
  /** Written to stderr at every start. */
  stderr?: string
  /** Lines written to stdout at every start. */
  junk?: string[]
  /** Never answers `initialize`. */
  neverShakesHands?: boolean
  /** Lives on when its stdin ends and when it gets SIGTERM. */
  ignoresSigterm?: boolean
  /** Fills stderr when its stdin ends, before it exits. */
  stderrBytesAtClose?: number
  /** How many children it starts; they hold its pipes open. */
  children?: number
  /** The only protocol version that it speaks. */
  protocolVersion?: string
  /** Tools to offer instead of its own, as `tools/list` gives them. Each answers with the server's label. */
  tools?: object[]
  label?: string
  /** How many tools to offer, `tool_0` and so on; fewer after `change_tools`. */
  toolCount?: number
  /** Says that its tools changed after every list of them. */
  listStorm?: boolean
}

/** The environment variable that carries the faults. */
export const FAULTS_VARIABLE = 'TOOLPOST_HOSTILE_FAULTS'
