import { setTimeout as delay } from 'node:timers/promises'
import type { GatewaySource } from './context.ts'
import { Disconnected } from './http.ts'
import { ABORT_GRACE_MS } from './limits.ts'

/** Tracks running work, so that the gateway can wait for it before closing and abort what does not finish. */
export class ActiveCalls {
  readonly #running: AbortController[] = []
  #onIdle = () => {}
  isDraining = false

  /** Runs `work`; `caller` is aborted when the gateway gives up waiting. */
  async run<T>(caller: AbortController, work: () => Promise<T>): Promise<T> {
    this.#running.push(caller)
    try {
      return await work()
    } finally {
      this.#running.splice(this.#running.indexOf(caller), 1)
      if (this.#running.length === 0) this.#onIdle()
    }
  }

  /** Waits for a tool that is not registered yet, while servers that may have it are starting. */
  async waitForTool(
    { executor, waitWhileStarting }: GatewaySource,
    name: string,
    { caller, timeoutMs }: { caller: AbortController; timeoutMs?: number | undefined },
  ): Promise<void> {
    if (!waitWhileStarting || executor.tools.findTool(name)) return
    const limitMs = executor.timeoutMsOf(name, { timeoutMs })
    await this.run(caller, () => waitWhileStarting(name, { limitMs, signal: caller.signal }))
  }

  /** Nothing new should start from now on. Resolves when nothing is running; after `limitMs` the rest is aborted. */
  async drain(limitMs: number): Promise<void> {
    this.isDraining = true
    await this.#idle(limitMs)
    this.abort()
    // Work that ignores that is not waited for.
    await this.#idle(ABORT_GRACE_MS)
  }

  async #idle(limitMs: number): Promise<void> {
    if (this.#running.length === 0) return
    const waiting = new AbortController()
    this.#onIdle = () => waiting.abort()
    await delay(limitMs, undefined, { signal: waiting.signal }).catch(() => {})
  }

  /** Aborts everything that is running. */
  abort(): void {
    for (const caller of [...this.#running]) caller.abort(new Disconnected('Toolpost is shutting down'))
  }
}
