import { randomUUID } from 'node:crypto'
import {
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { fingerprint } from '../../interceptors/canonical.ts'
import { ELICITATION_MS, MAX_ELICITATIONS, TASK_AFTER_MS } from '../limits.ts'
import { ASKS, ClientCall, type ClientCallOptions, type Owner, TAKES_LONG } from './client-call.ts'
import type { McpRequest } from './client-peer.ts'

export interface SuspendableWork<Result> extends Omit<ClientCallOptions<Result>, 'mayBeTask' | 'owner'> {
  /** Whose request it is: only they may go on with it, … */
  client: string
  /** … with the same request. */
  about: unknown
  /** Makes a task of a call that takes long, if the client knows tasks and there is room for one. */
  toTask?: ((call: ClientCall<Result>) => Result | undefined) | undefined
}

/**
 * Requests of the newest protocol, which has none from a server to its client: the client is handed the questions in
 * place of a result, and comes again with the answers. The work goes on from there; it is never begun again.
 */
export class SuspendedCalls {
  /** By the state that the client brings back; the oldest first. */
  readonly #suspended = new Map<string, ClientCall>()

  async run<Result>(
    request: McpRequest,
    { client, about, toTask, ...options }: SuspendableWork<Result>,
  ): Promise<Result | InputRequiredResult> {
    const state = request.requestState<string>()
    const owner: Owner = { client, about: fingerprint(about) }
    const call = (
      state === undefined
        ? new ClientCall({ ...options, owner, mayBeTask: toTask !== undefined })
        : this.#take(state, owner)
    ) as ClientCall<Result>
    let outcome: unknown = await call.goOn(request, toTask && TASK_AFTER_MS)
    if (outcome === TAKES_LONG) outcome = toTask?.(call) ?? (await call.goOn(request))
    return outcome === ASKS ? this.#suspend(call) : (outcome as Result)
  }

  #take(state: string, { client, about }: Owner): ClientCall {
    const call = this.#suspended.get(state)
    if (call?.owner.client !== client || call.owner.about !== about)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This question is no longer open: call again')
    this.#suspended.delete(state)
    return call
  }

  #suspend(call: ClientCall): InputRequiredResult {
    if (this.#suspended.size >= MAX_ELICITATIONS) this.#makeRoom()
    const requestState = randomUUID()
    this.#suspended.set(requestState, call)
    // Also when it is over by then: what came of it waits for the client.
    call.expireIn(ELICITATION_MS, () => this.#suspended.delete(requestState))
    return inputRequired({ inputRequests: call.handOut() as never, requestState })
  }

  /** The oldest goes of the client that has most, so that none can push out another's. */
  #makeRoom(): void {
    const counts = new Map<string, number>()
    for (const { owner } of this.#suspended.values())
      counts.set(owner.client, (counts.get(owner.client) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const oldest = [...this.#suspended].find(([, { owner }]) => counts.get(owner.client) === most)
    if (!oldest) return
    this.#suspended.delete(oldest[0])
    oldest[1].giveUp()
  }
}
