import { type CallOutcome, callTool } from '../api/gateway-api.ts'
import { Store } from './store.ts'

/** A call made from this page. It continues while another view is open. */
export interface ToolRun {
  /** The `id` of its record among the calls. */
  id: string
  args: unknown
  /** In milliseconds since 1970. */
  startedAt: number
  outcome: CallOutcome | undefined
  cancel: () => void
}

/** The last run of each tool, by the tool's name. */
class ToolRuns extends Store<Readonly<Record<string, ToolRun>>> {
  constructor() {
    super({})
  }

  async start(tool: string, args: unknown, timeoutMs?: number): Promise<void> {
    const controller = new AbortController()
    const id = newId()
    const run: ToolRun = {
      id,
      args,
      startedAt: Date.now(),
      outcome: undefined,
      cancel: () => controller.abort(),
    }
    this.update({ [tool]: run })
    const outcome = await callTool({ id, tool, args, timeoutMs, signal: controller.signal })
    if (this.get()[tool] === run) this.update({ [tool]: { ...run, outcome } })
  }

  clear(tool: string): void {
    const { [tool]: _, ...others } = this.get()
    this.set(others)
  }
}

/** `randomUUID` is available only on loopback and over HTTPS. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

export const toolRuns = new ToolRuns()
