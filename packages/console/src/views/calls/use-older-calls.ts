import { useEffect, useMemo, useRef, useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { getCall, listOlderCalls, type OlderCalls } from '../../api/gateway-api.ts'
import { type CallFilter, timeOf, withOlder } from '../../state/call-list.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'

interface Older {
  /** Oldest first. */
  calls: CallRecord[]
  next?: string | undefined
  state: 'more' | 'loading' | 'end' | 'failed'
}

const NOTHING: Older = { calls: [], state: 'more' }

/**
 * Calls older than those the page follows, from the gateway's history, one page per request; a search loads the first
 * page right away.
 */
export function useOlderCalls(filter: CallFilter, live: readonly CallRecord[]): Older & { load(): void } {
  const [older, setOlder] = useState(NOTHING)
  const asked = useRef(0)
  const isThere = useStore(gateway, state => state.connection.state === 'open')
  const key = JSON.stringify(filter)
  const query = useMemo(() => historyQuery(JSON.parse(key) as CallFilter), [key])
  const load = async (before: Older) => {
    const turn = ++asked.current
    setOlder({ ...before, state: 'loading' })
    const isFirst = before.next === undefined
    const until = isFirst ? earlier(query.until, endOf(live)) : query.until
    const page = await listOlderCalls({ ...query, until, cursor: before.next }).catch(() => {})
    if (turn !== asked.current) return
    if (!page) return setOlder({ ...before, state: 'failed' })
    const state = page.next === undefined ? 'end' : 'more'
    setOlder({ calls: withOlder(before.calls, page.calls), next: page.next, state })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter starts over
  useEffect(() => {
    asked.current++
    setOlder(NOTHING)
    const isSearched = [filter.q, filter.since, filter.until, filter.trace].some(part => part !== undefined)
    if (isSearched && isThere) void load(NOTHING)
  }, [key, isThere])
  return { ...older, load: () => void load(older) }
}

/** The filter as the gateway accepts it; the page itself applies the rest to what comes back. */
export function historyQuery({ source, outcome, since, until, ...filter }: CallFilter): OlderCalls {
  const now = Date.now()
  return {
    ...filter,
    server: source,
    outcome: OUTCOMES[outcome ?? ''],
    since: timeOf(since, now),
    until: timeOf(until, now),
  }
}

const OUTCOMES: Record<string, string> = { succeeded: 'ok', failed: 'failed' }

function earlier(a: string | number | undefined, b: number | undefined): number | undefined {
  const times = [a, b].filter(time => typeof time === 'number')
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Just after the page's oldest call: others may have started in the same millisecond. */
function endOf(live: readonly CallRecord[]): number | undefined {
  return live.length === 0 ? undefined : Math.min(...live.map(call => call.startedAt)) + 1
}

/** A call that the page does not have but the gateway may; `looking` until known. */
export function useKeptCall(
  serial: string,
  known: CallRecord | undefined,
): CallRecord | undefined | 'looking' {
  const [kept, setKept] = useState<CallRecord | 'none'>()
  const isKnown = known !== undefined
  const isThere = useStore(gateway, state => state.connection.state === 'open')
  useEffect(() => {
    let isWanted = true
    setKept(undefined)
    if (!isKnown && isThere)
      getCall(serial)
        .then(call => isWanted && setKept(call ?? 'none'))
        .catch(() => isWanted && setKept('none'))
    return () => {
      isWanted = false
    }
  }, [serial, isKnown, isThere])
  return known ?? (kept === 'none' ? undefined : (kept ?? 'looking'))
}
