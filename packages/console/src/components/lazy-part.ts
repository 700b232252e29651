import { type ComponentType, lazy } from 'react'
import { gateway } from '../state/gateway.ts'

const PAUSE_MS = 2_000

/** A part of the page that is loaded when it is first needed: if the gateway is away then, as soon as it is back. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loaded(load) }))
}

/** A failure is not the end: React would keep it for as long as the page lives. */
async function loaded<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch {
      await nextChance()
    }
  }
}

/** The gateway is back, or some time has passed. */
function nextChance(): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    const timer = setTimeout(go, PAUSE_MS)
    const wasOpen = gateway.get().connection.state === 'open'
    const stop = gateway.subscribe(() => {
      if (!wasOpen && gateway.get().connection.state === 'open') go()
    })
  })
}
