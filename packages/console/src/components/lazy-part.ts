import { type ComponentType, lazy } from 'react'
import { gateway } from '../state/gateway.ts'

const PAUSE_MS = 2_000

/** A part of the page that is loaded on first use; if the gateway is down then, as soon as it is back. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loaded(load) }))
}

/** Retries failures: React would cache one for the lifetime of the page. */
async function loaded<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load()
    } catch {
      await nextChance()
    }
  }
}

/** Resolves when the gateway is back, or after a pause. */
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
