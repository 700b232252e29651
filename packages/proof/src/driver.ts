// What a driver is: a module with these exports. It runs in a process of its own, and is never trusted: what
// happened is read from the ledger of the misbehaving server.

/** What a driver may support; cases that need more are "not supported", not "failed". */
export type Feature =
  | ('stdio' | 'http' | 'servers' | 'timeout' | 'connectTimeout' | 'cancel')
  | ('progress' | 'validate' | 'repair' | 'reconnect' | 'listChanged' | 'images')

/** How to reach an MCP server: a command to start, or a URL. */
export type ServerSpec =
  | { command: string; args: string[]; env: Record<string, string>; url?: undefined }
  | { url: string; command?: undefined }

export interface StartOptions {
  /** The server under test. */
  server: ServerSpec
  /** All servers by name, the one under test included; only drivers that support `servers` ever get two. */
  servers: Record<string, ServerSpec>
  /** For drivers that support `connectTimeout`. */
  connectTimeoutMs: number
}

export interface CallOptions {
  signal: AbortSignal
  timeoutMs?: number | undefined
  /** Whether the arguments come from a model, and may be repaired. */
  repair?: boolean | undefined
}

/** What came of a call. A driver may also throw: that is an outcome that is not ok. */
export interface Outcome {
  ok: boolean
  /** What a model would read. */
  text: string
  /** Structured content, if the executor passes it on separately. */
  structured?: unknown
  images?: { mimeType: string; base64: string }[] | undefined
}

export interface Driver {
  supports: readonly Feature[]
  /** Packages whose versions are reported. */
  packages?: readonly string[] | undefined
  /** The process of the executor, if it is not the driver's own. */
  pid?: () => number
  start(options: StartOptions): Promise<void>
  call(name: string, args: Record<string, unknown>, options: CallOptions): Promise<Outcome>
  stop(): Promise<void>
}
