import { type BrokerLink, CONNECTING, type LinkListener } from '../../src/broker-connection.ts'

/** A broker that is not there: a test says what comes in and sees what goes out. */
export class FakeLink implements BrokerLink {
  readonly url = 'mqtt://fake:1883'
  readonly published: Array<{ topic: string; text: string }> = []
  problem: string | undefined = CONNECTING
  /** Acts on a command, e.g. by reporting a new state; calls of the gateway's API do not get here. */
  onPublish: (topic: string, text: string) => void = () => {}
  /** Answers a call of the gateway's API. */
  onApi: (topic: string, text: string) => void = () => {}
  #listener: LinkListener | undefined

  start(listener: LinkListener): void {
    this.#listener = listener
  }

  publish(topic: string, text: string): boolean {
    if (this.problem) return false
    this.published.push({ topic, text })
    const react = topic.includes('_CLIENTS') ? this.onApi : this.onPublish
    queueMicrotask(() => react(topic, text))
    return true
  }

  async answers(): Promise<boolean> {
    return !this.problem
  }

  async close(): Promise<void> {}

  connect(): void {
    this.#set(undefined)
  }

  lose(cause = 'connect ECONNREFUSED'): void {
    this.#set(cause)
  }

  receive(topic: string, payload: unknown, { retained = false } = {}): void {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    this.#listener?.onMessage({ topic, text, retained })
  }

  get commands(): Array<{ topic: string; text: string }> {
    return this.published.filter(({ topic }) => !topic.includes('_CLIENTS'))
  }

  #set(problem: string | undefined): void {
    this.problem = problem
    this.#listener?.onChange()
  }
}
