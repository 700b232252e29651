/** Whether the broker can be used now. `connected` implies subscribed. */
export type LinkState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface Message {
  readonly topic: string
  readonly text: string
  /** An old message, sent because we subscribed, not because something happened. */
  readonly retained: boolean
}

export interface LinkListener {
  onState(state: LinkState): void
  onMessage(message: Message): void
}

/** A link to the broker that never queues: a message goes out now, once, or not at all. */
export interface BrokerLink {
  /** The broker's URL, without user and password. */
  readonly url: string
  readonly state: LinkState
  start(listener: LinkListener): void
  /** Sends a message now. False: not connected, and the message was dropped. */
  publish(topic: string, text: string): boolean
  /** Whether the broker answers within this time: a connection can look alive while the broker hangs. */
  answers(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}
