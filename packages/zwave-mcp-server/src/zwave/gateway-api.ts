import { randomUUID } from 'node:crypto'
import { isRecord } from './payload.ts'
import { apiTopic } from './topics.ts'

/** The outcome of a gateway API call. `silent`: the gateway did not answer in time. */
export type ApiAnswer =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed' | 'silent' | 'not sent'; readonly cause: string }

export interface ApiCall {
  readonly client: string
  readonly method: 'getNodes' | 'writeValue' | '_getScenes' | '_activateScene'
  readonly args?: readonly unknown[]
  readonly timeoutMs: number
}

interface Waiter extends Pick<ApiCall, 'client' | 'method'> {
  readonly id: string
  finish(answer: ApiAnswer): void
}

export interface ApiOptions {
  readonly prefix: string
  /** Sends a message now; false if not connected. */
  readonly publish: (topic: string, text: string) => boolean
}

/** Calls a gateway's MQTT API and picks our answers out of those meant for other clients. */
export class GatewayApi {
  readonly #options: ApiOptions
  readonly #waiters = new Set<Waiter>()

  constructor(options: ApiOptions) {
    this.#options = options
  }

  /** Whether an answer to this method is on its way. */
  awaits(method: ApiCall['method']): boolean {
    return [...this.#waiters].some(waiter => waiter.method === method)
  }

  call({ client, method, args = [], timeoutMs }: ApiCall): Promise<ApiAnswer> {
    const { prefix, publish } = this.#options
    // The gateway echoes the request, so an id of our own identifies our answer.
    const id = randomUUID()
    if (!publish(`${apiTopic(prefix, client, method)}/set`, JSON.stringify({ args, id })))
      return Promise.resolve({ kind: 'not sent', cause: 'there is no connection to the MQTT broker' })
    return new Promise(resolve => {
      const finish = (answer: ApiAnswer) => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        resolve(answer)
      }
      const waiter: Waiter = { client, method, id, finish }
      const silence: ApiAnswer = { kind: 'silent', cause: 'the gateway did not answer' }
      const timer = setTimeout(finish, timeoutMs, silence)
      this.#waiters.add(waiter)
    })
  }

  /** Handles an answer, whoever asked; returns it parsed. */
  receive(client: string, method: string, json: unknown): ApiAnswer {
    const answer = readAnswer(json)
    const asked = isRecord(json) && isRecord(json.origin) ? json.origin.id : undefined
    for (const waiter of this.#waiters) {
      const isOurs = waiter.client === client && waiter.method === method
      if (isOurs && (asked === undefined || asked === waiter.id)) {
        waiter.finish(answer)
        break
      }
    }
    return answer
  }

  /** The connection was lost: no answer will come. */
  lose(): void {
    for (const { finish } of this.#waiters)
      finish({ kind: 'silent', cause: 'the connection to the MQTT broker was lost' })
  }
}

function readAnswer(json: unknown): ApiAnswer {
  if (isRecord(json) && json.success === true) return { kind: 'done', result: json.result }
  const message =
    isRecord(json) && typeof json.message === 'string' ? json.message : 'its answer is malformed'
  return { kind: 'failed', cause: message.slice(0, 200) }
}
