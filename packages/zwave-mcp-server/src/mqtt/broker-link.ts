/** Whether the broker can be used now. `connected` means subscribed too. */
export type LinkState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected' }
  | { readonly status: 'offline'; readonly cause: string }

export interface Message {
  readonly topic: string
  readonly text: string
  /** From the past: sent because we subscribed, not because something happened. */
  readonly retained: boolean
}

export interface LinkListener {
  onState(state: LinkState): void
  onMessage(message: Message): void
}

/** A way to the broker that never keeps a message: it goes out now, once, or not at all. */
export interface BrokerLink {
  /** Where the broker is, without user and password. */
  readonly url: string
  readonly state: LinkState
  start(listener: LinkListener): void
  /** Sends a message now. False: there is no connection, and the message is gone. */
  publish(topic: string, text: string): boolean
  /** Whether the broker answers within this time: a connection can look alive when the broker hangs. */
  answers(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}
