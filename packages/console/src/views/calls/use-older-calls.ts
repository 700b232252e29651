import { useEffect, useRef, useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { getCall, listOlderCalls } from '../../api/gateway-api.ts'
import { type CallFilter, withOlder } from '../../state/call-list.ts'

interface Older {
  /** Oldest first. */
  calls: CallRecord[]
  next?: string | undefined
  state: 'more' | 'loading' | 'end' | 'failed'
}

const NOTHING: Older = { calls: [], state: 'more' }

/** Calls before those that the page follows, from the gateway's history, a page each time that somebody asks. */
export function useOlderCalls(filter: CallFilter, live: readonly CallRecord[]): Older & { load(): void } {
  const { tool, source, outcome } = filter
  const [older, setOlder] = useState(NOTHING)
  const asked = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins anew
  useEffect(() => {
    asked.current++
    setOlder(NOTHING)
  }, [tool, source, outcome])
  const load = async () => {
    const turn = ++asked.current
    setOlder({ ...older, state: 'loading' })
    const isFirst = older.next === undefined
    const query = { tool, server: source, outcome: OUTCOMES[outcome ?? ''], cursor: older.next }
    const page = await listOlderCalls({ ...query, until: isFirst ? endOf(live) : undefined }).catch(() => {})
    if (turn !== asked.current) return
    if (!page) return setOlder({ ...older, state: 'failed' })
    const state = page.next === undefined ? 'end' : 'more'
    setOlder({ calls: withOlder(older.calls, page.calls), next: page.next, state })
  }
  return { ...older, load: () => void load() }
}

const OUTCOMES: Record<string, 'ok' | 'failed'> = { succeeded: 'ok', failed: 'failed' }

/** Just after the oldest call of the page: others may have begun in the same millisecond. */
function endOf(live: readonly CallRecord[]): number | undefined {
  return live.length === 0 ? undefined : Math.min(...live.map(call => call.startedAt)) + 1
}

/** A call that the page does not have, if the gateway does. */
export function useKeptCall(serial: number, known: CallRecord | undefined): CallRecord | undefined {
  const [kept, setKept] = useState<CallRecord>()
  const isKnown = known !== undefined
  useEffect(() => {
    let isWanted = true
    setKept(undefined)
    if (!isKnown)
      getCall(serial)
        .then(call => isWanted && setKept(call))
        .catch(() => {})
    return () => {
      isWanted = false
    }
  }, [serial, isKnown])
  return known ?? kept
}
