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
  /** Whose request it is: only this client may continue it, … */
  client: string
  /** … with the same request. */
  about: unknown
  /** Turns a long call into a task, if the client knows tasks and there is room. */
  toTask?: ((call: ClientCall<Result>) => Result | undefined) | undefined
}

/**
 * Requests of the newest protocol, in which servers cannot send requests: the client gets the questions in place of a
 * result and returns with the answers. The work continues from there; it is never restarted.
 */
export class SuspendedCalls {
  /** By the state that the client sends back; oldest first. */
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
    // Even if it has finished by then: the result waits for the client.
    call.expireIn(ELICITATION_MS, () => this.#suspended.delete(requestState))
    return inputRequired({ inputRequests: call.handOut() as never, requestState })
  }

  /** Drops the oldest of the client with the most, so that no client can push out another's. */
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
